import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from './free-port';

/** One administrator for each worker: an address gets a code a minute. */
export const administrator = (worker: number): string => `admin-${worker}@callgate.local`;
const WORKERS = 200;

/**
 * Starts the real binary on embedded stores in a directory of its own, for all tests of this run,
 * and ends it with them. CALLGATE_BINARY names another one than bin/callgate.
 */
export default async function product(): Promise<() => Promise<void>> {
  const binary = process.env['CALLGATE_BINARY'] ?? resolve(import.meta.dirname, '../../../../bin/callgate');
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run make build`);
  const data = mkdtempSync(join(tmpdir(), 'callgate-pages-'));
  chmodSync(data, 0o755); // PostgreSQL's user enters it
  const listen = `127.0.0.1:${await freePort()}`;
  const log: string[] = [];
  const child = spawn(binary, ['dev'], {
    cwd: data,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      LISTEN: listen,
      DATA_DIR: data,
      TRUSTED_PROXIES: '127.0.0.1',
      UPSTREAM_HEADER_TIMEOUT: '8s',
      API_RATE_LIMIT: '0',
      STRANGER_RATE_LIMIT: '0', // the tests are many people at one address
      ADMIN_EMAILS: ['admin@callgate.local', ...Array.from({ length: WORKERS }, (_, n) => administrator(n))].join(','),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => log.push(chunk.toString()));
  const ended = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);

  const base = `http://${listen}`;
  const deadline = Date.now() + 240_000;
  for (;;) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`callgate dev did not become ready:\n${log.join('')}`);
    }
    if (log.join('').includes('Callgate is ready')) break;
    await new Promise((wait) => setTimeout(wait, 50));
  }
  process.env['CALLGATE_BASE'] = base;
  return async () => {
    child.kill('SIGTERM');
    await Promise.race([ended, new Promise((late) => setTimeout(late, 60_000).unref())]);
    child.kill('SIGKILL');
    process.removeListener('exit', kill);
    rmSync(data, { recursive: true, force: true });
  };
}
