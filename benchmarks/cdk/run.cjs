// A Lambda function of the CDK's as a process of its own: the package's files as they are, entry point included.
//
//   node run.cjs FOLDER cdk-strong|cdk-newest|sdk|bare writer|reader FD
//
// Events come as lines of JSON on the standard input; `ready`, and then what came of each event, goes as a line of JSON
// to the file descriptor FD. The entry point answers over https only; here it answers over http, to the same server as
// the functions in Python do: that one function, which it has for this, is replaced.
'use strict';
const fs = require('fs');
const path = require('path');

const [folder, what, which, fd] = process.argv.slice(2);
const report = (line) => fs.writeSync(Number(fd), JSON.stringify(line) + '\n');

function load() {
  const modules = path.join(folder, 'node_modules');
  if (what === 'bare') return async () => {};
  if (what === 'sdk') {
    const { SSM } = require(path.join(modules, '@aws-sdk/client-ssm'));
    const client = new SSM({ region: 'us-east-1' });
    return () => client.putParameter({ Name: '/bare', Type: 'String', Value: '1', Overwrite: true });
  }
  const root = path.join(modules, what);
  const entry = require(path.join(root, 'custom-resource-handlers/dist/core/nodejs-entrypoint-handler/index.js'));
  entry.external.userHandlerIndex = path.join(root, `core/lib/dist/core/cross-region-ssm-${which}-handler/index.js`);
  require(entry.external.userHandlerIndex); // It would load it with the first event; ready is when all is loaded.
  return async (event, context) => {
    entry.external.sendHttpRequest = (options, body) => put(event.ResponseURL, options, body);
    await entry.handler(event, context);
  };
}

function put(url, options, body) {
  return new Promise((resolve, reject) => {
    const request = require('http').request({ ...options, port: new URL(url).port }, (response) => {
      response.resume();
      response.on('end', resolve);
    });
    request.on('error', reject);
    request.end(body);
  });
}

function peak() {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'ascii'))[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}

const handler = load();
report({ ready: true });

const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const event = JSON.parse(line);
  const began = process.hrtime.bigint();
  const busy = process.cpuUsage();
  let error = null;
  try {
    await handler(event, { awsRequestId: '00000000-0000-0000-0000-000000000000' });
  } catch (failed) {
    error = failed.name;
  }
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  const { user, system } = process.cpuUsage(busy);
  report({ seconds, cpu_seconds: (user + system) / 1e6, error, peak_kb: peak() });
});
