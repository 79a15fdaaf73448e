import { get } from 'node:http';

/** Resolves when `GET /health/ready` answers 200; rejects with what the service says it misses. */
export function probeHealth(port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/health/ready', signal, agent: false };
    get(options, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(describeUnready(response.statusCode ?? 0, body)));
      });
    }).on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ECONNREFUSED' ? new Error('does not listen yet') : error);
    });
  });
}

/** The problem's `detail` names the failing dependency; anything else is quoted, bounded. */
function describeUnready(status: number, body: string): string {
  try {
    const { detail } = JSON.parse(body) as { detail?: unknown };
    if (typeof detail === 'string') return detail;
  } catch {
    // Not JSON: the text itself says more than the parser's complaint would.
  }
  return `readiness answers ${status}${body === '' ? '' : `: ${body.slice(0, 200)}`}`;
}
