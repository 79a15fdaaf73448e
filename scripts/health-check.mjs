/** Health check of the service images: exits with 0 when the service in its container is ready, with 1 otherwise. */
// Imported, it would make Node load fetch as well, which is half of what a check takes.
const { get } = process.getBuiltinModule('node:http');

const port = process.env.HEALTH_PORT ?? process.env.PORT;
// By address: "localhost" may mean ::1, which containers without IPv6 cannot use.
const request = get({ host: '127.0.0.1', port, path: '/health/ready', timeout: 2_500 }, (response) => {
  console.log(`/health/ready on port ${port} responds ${response.statusCode}`);
  process.exit(response.statusCode === 200 ? 0 : 1);
});
request.on('timeout', () => request.destroy(new Error('no response in 2.5 s')));
request.on('error', (error) => {
  console.log(`/health/ready on port ${port}: ${error.message}`);
  process.exit(1);
});
