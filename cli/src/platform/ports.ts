import { randomInt } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { CliError } from '../errors.ts';
import { type ProjectLock, takeProjectLock } from '../process/project-lock.ts';

/** Hands out loopback ports, the same ones at the next start where they are still free. */
export interface PortAllocator {
  /** The port of an owner's listener (`orders-1`, `stock-1:health`): remembered, or a free one. */
  reserve(owner: string, preferred?: number): Promise<number>;
  /**
   * This port and no other. Throws CliError: 2 when the owner has another one already, 3 when another process has it.
   */
  require(owner: string, port: number): Promise<number>;
  /** Keeps the port of something that runs already, without asking whether it is free. */
  keep(owner: string, port: number): void;
  /** What to remember for the next start. */
  all(): Readonly<Record<string, number>>;
  /** Gives the ports back to other projects. */
  release(): Promise<void>;
}

/**
 * Below the range from which Linux (32768) and macOS (49152) take ports for outgoing connections. So a port that is
 * remembered while nothing listens on it is not given to others. Above what well-known programs listen on.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 200;

/**
 * Two projects that start concurrently both see a port as free until one listens. `claimsDir`, shared by a user's
 * projects, holds one lock a port, so that only one of them takes it.
 */
export function createPortAllocator(remembered: Readonly<Record<string, number>>, claimsDir?: string): PortAllocator {
  const claims: ProjectLock[] = [];
  const ports = new Map<string, number>();
  const known = new Map(Object.entries(remembered));
  const isMine = (port: number) => [...ports.values()].includes(port);
  const take = async (owner: string, port: number) => {
    if (isMine(port) || !(await isFree(port))) return false;
    // Another process may have taken it while we looked.
    if (isMine(port)) return false;
    ports.set(owner, port);
    if (await claim(port)) return true;
    ports.delete(owner);
    return false;
  };
  const claim = async (port: number) => {
    if (claimsDir === undefined) return true;
    await mkdir(claimsDir, { recursive: true, mode: 0o700 });
    const lock = await takeProjectLock(join(claimsDir, String(port)));
    if (lock) claims.push(lock);
    return lock !== undefined;
  };
  return {
    async reserve(owner, preferred) {
      const already = ports.get(owner);
      if (already !== undefined) return already;
      const before = known.get(owner);
      if (before !== undefined && (await take(owner, before))) return before;
      if (preferred !== undefined) {
        for (let port = preferred; port < preferred + ATTEMPTS; port++) if (await take(owner, port)) return port;
      }
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const port = randomInt(FIRST_PORT, LAST_PORT);
        if (await take(owner, port)) return port;
      }
      throw new Error(`no free port for ${owner} among ${ATTEMPTS} tried between ${FIRST_PORT} and ${LAST_PORT}`);
    },
    async require(owner, port) {
      const already = ports.get(owner);
      if (already === port) return port;
      if (already !== undefined) {
        throw new CliError({
          code: 'restart_required',
          what: `${owner} cannot move to port ${port} while the platform runs`,
          why: `it listens on port ${already}, and clients know that one`,
          next: `run "shopctl down", then "shopctl up --port ${port}"`,
        });
      }
      if (await take(owner, port)) return port;
      throw new CliError({
        code: 'port_taken',
        what: `port ${port} is taken`,
        why: `another program, or another project, has it; ${owner} was to listen there`,
        next: 'choose another one with --port, or none, and the next free one from 8080 on is taken',
      });
    },
    keep: (owner, port) => void ports.set(owner, port),
    async release() {
      await Promise.all(claims.splice(0).map((lock) => lock.release()));
    },
    all: () => ({ ...Object.fromEntries(known), ...Object.fromEntries(ports) }),
  };
}

/** True when a server could listen on this loopback port now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
