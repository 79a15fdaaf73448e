/** Health check of the service images: ends with 0 when the service beside it says that it is ready, with 1 otherwise. */
import { get } from 'node:http';

const port = process.env.HEALTH_PORT ?? process.env.PORT;
// By address: "localhost" may mean ::1, which containers without IPv6 cannot use.
const request = get({ host: '127.0.0.1', port, path: '/health/ready', timeout: 2_500 }, (answer) => {
  console.log(`/health/ready on port ${port} answers ${answer.statusCode}`);
  process.exit(answer.statusCode === 200 ? 0 : 1);
});
request.on('timeout', () => request.destroy(new Error('no answer in 2.5 s')));
request.on('error', (error) => {
  console.log(`/health/ready on port ${port}: ${error.message}`);
  process.exit(1);
});
