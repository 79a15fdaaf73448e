// A child for supervisor tests: listens, is ready, and crashes or stays unready as its environment says. CommonJS: an ES module
// that imports node:http takes twice as long to start.
const { existsSync } = require('node:fs');
const { createServer } = require('node:http');

// CRASH_WHILE, UNREADY_WHILE: a file, while which is there it crashes at its start, or is not ready.
const { PORT, CRASH_AT_START, CRASH_WHILE, UNREADY, UNREADY_WHILE, EXIT_WITH_PARENT, IGNORE_SIGTERM } = process.env;
if (CRASH_AT_START || (CRASH_WHILE && existsSync(CRASH_WHILE))) {
  console.log('fake: no configuration, ending');
  process.exit(7);
}
if (IGNORE_SIGTERM) process.on('SIGTERM', () => console.log('fake: not now'));
if (EXIT_WITH_PARENT === '1') process.stdin.on('end', () => process.exit(0)).resume();
createServer((request, response) => {
  if (request.url === '/crash') process.exit(3);
  const isUnready = UNREADY || (UNREADY_WHILE && existsSync(UNREADY_WHILE));
  const isReady = !isUnready && request.url === '/health/ready';
  const dependencies = isReady ? [] : [{ name: 'database', status: 'down', reason: 'no response in 1000 ms' }];
  response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ pid: process.pid, status: isReady ? 'ready' : 'not ready', dependencies }));
}).listen(Number(PORT), '127.0.0.1', () => console.log('fake: listening'));
