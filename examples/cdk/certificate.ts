// A certificate of us-east-1 in a distribution of eu-west-1. It stays as it is while the site uses it.

import * as cdk from 'aws-cdk-lib';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as origins from 'aws-cdk-lib/aws-cloudfront-origins';

const app = new cdk.App();
const account = process.env.CDK_DEFAULT_ACCOUNT;
const virginia = new cdk.Stack(app, 'certificate', { env: { account, region: 'us-east-1' } });
const ireland = new cdk.Stack(app, 'site', { env: { account, region: 'eu-west-1' } });
const certificate = new acm.Certificate(virginia, 'Certificate', { domainName: 'www.example.com' });

const exported = new cdk.CustomResource(virginia, 'Exports', {
  resourceType: 'Custom::CrossRegionExport',
  serviceToken: cdk.Fn.importValue('strongref-exporter'),
  properties: {
    Region: 'eu-west-1',
    Consumer: 'site',
    Hold: 'certificate-exports',
    Values: { CertificateArn: certificate.certificateArn },
  },
});
new cdk.CfnOutput(virginia, 'Hold', { exportName: 'certificate-exports', value: exported.getAttString('Hold') });

const imported = new cdk.CustomResource(ireland, 'Imports', {
  resourceType: 'Custom::CrossRegionImport',
  serviceToken: cdk.Fn.importValue('strongref-importer'),
  properties: { From: { Stack: 'certificate', Region: 'us-east-1' }, Names: ['CertificateArn'] },
});
const arn = imported.getAttString('CertificateArn');
ireland.node.addDependency(virginia);

new cloudfront.Distribution(ireland, 'Distribution', {
  certificate: acm.Certificate.fromCertificateArn(ireland, 'Certificate', arn),
  domainNames: ['www.example.com'],
  defaultBehavior: { origin: new origins.HttpOrigin('example.com') },
});

app.synth();
