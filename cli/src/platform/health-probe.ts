import { get } from 'node:http';

/** What a service says that it runs; one of an older version says nothing. */
export interface RunningRelease {
  readonly version?: string;
  readonly track?: string;
}

interface Readiness extends RunningRelease {
  readonly pid?: number;
  readonly dependencies?: readonly { readonly name: string; readonly status: string; readonly reason?: string }[];
}

/**
 * Resolves with what runs when `GET /health/ready` of process `pid` responds 200. Rejects with the dependencies that the service
 * reports as missing, or when another process has the port. Otherwise another platform's service would report ready for
 * ours.
 */
export function probeHealth(port: number, pid: number | undefined, signal: AbortSignal): Promise<RunningRelease> {
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
        const readiness = parseReadiness(body);
        if (readiness.pid !== pid) reject(new Error(`another program responds on port ${port}`));
        else if (response.statusCode === 200) resolve(releaseIn(readiness));
        else reject(new Error(describeUnready(response.statusCode ?? 0, readiness, body)));
      });
    }).on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ECONNREFUSED' ? new Error('does not listen yet') : error);
    });
  });
}

function parseReadiness(body: string): Readiness {
  try {
    return JSON.parse(body) as Readiness;
  } catch {
    // Not one of our services; the text itself is quoted.
    return {};
  }
}

function releaseIn({ version, track }: Readiness): RunningRelease {
  return { ...(version !== undefined && { version }), ...(track !== undefined && { track }) };
}

/** Names the dependencies that are down; anything else is quoted, bounded. */
function describeUnready(status: number, { dependencies = [] }: Readiness, body: string): string {
  const down = dependencies.filter((dependency) => dependency.status === 'down');
  if (down.length > 0)
    return down.map(({ name, reason }) => `${name} is down (${reason ?? 'no reason given'})`).join(', ');
  return `readiness responds ${status}${body === '' ? '' : `: ${body.slice(0, 200)}`}`;
}
