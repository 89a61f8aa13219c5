// CDK apps with cross-region references, synthesized in several variants: `node app.cjs` reads what they are as JSON.
//
//   {"account": …, "apps": some of these, "names": {stack: its name}, "variants": {folder: …},
//    "line": the code that makes references strong, "setting": the code that gives a stack a setting}
//
// A variant is {"cdk": its package, "line" and "setting": whether it has that code, "settings": {stack: its metadata},
// "topics": a part of topics' names, "without": what it lacks: "site.Alarms" is the site's use of a topic, "News" a topic}.
'use strict';
const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const [US, EU] = ['us-east-1', 'eu-west-1'];

const apps = {
  network: ({ stack, has, topic, read, load }) => {
    const [certificate, site, blog, hub, edge] = [
      stack('certificate', US),
      stack('site', EU),
      stack('blog', EU),
      stack('hub', EU), // reads and is read
      stack('edge', US),
    ];
    const { Certificate } = load('aws-certificatemanager');
    const { certificateArn } = new Certificate(certificate, 'Certificate', { domainName: 'www.example.com' });
    for (const each of [site, blog]) read(each, 'Certificate', certificateArn);
    const { topicArn } = topic(certificate, 'Alarms');
    for (const each of [site, hub]) read(each, 'Alarms', topicArn);
    if (has('News')) read(edge, 'News', topic(hub, 'News').topicArn);
  },
  shop: ({ stack, topic, read }) => {
    const [base, front] = [stack('base', US), stack('front', EU)];
    read(front, 'Orders', topic(base, 'Orders').topicArn);
  },
  many: ({ stack, topic, cdk }) => {
    const [topics, reader] = [stack('topics', US), stack('reader', EU)];
    for (let i = 0; i < 120; i++) new cdk.CfnOutput(reader, `Value${i}`, { value: topic(topics, `T${i}`).topicArn });
  },
};

for (const [folder, variant] of Object.entries(given.variants)) {
  for (const name of given.apps) synthesize(`${folder}/${name}`, variant, apps[name]);
}

function synthesize(outdir, variant, define) {
  const cdk = require(variant.cdk);
  const context = { '@aws-cdk/core:defaultCrossStackReferences': 'strong' };
  const app = new cdk.App({ outdir, context, analyticsReporting: false, treeMetadata: false });
  const has = (what) => !variant.without?.includes(what);
  const load = (module) => require(`${variant.cdk}/${module}`);
  define({
    cdk,
    has,
    load,
    stack: (id, region) => {
      const made = new cdk.Stack(app, id, {
        stackName: given.names[id],
        env: { account: given.account, region },
        crossRegionReferences: true,
        synthesizer: new cdk.DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
      });
      if (variant.setting) new Function('stack', given.setting)(made);
      if (variant.settings?.[id]) made.addMetadata('StrongRef', variant.settings[id]);
      return made;
    },
    topic: (stack, id) => {
      const topicName = `${stack.stackName}-${id}-${variant.topics ?? 'first'}`;
      return new (load('aws-sns').Topic)(stack, id, { topicName });
    },
    read: (stack, id, value) => {
      const parameter = { type: 'AWS::SSM::Parameter', properties: { Type: 'String', Value: value } };
      if (has(`${stack.node.id}.${id}`)) new cdk.CfnResource(stack, `Reads${id}`, parameter);
    },
  });
  if (variant.line) new Function('app', 'cdk', given.line)(app, cdk);
  app.synth();
}
