import { createHash, createHmac, pbkdf2 as pbkdf2Callback, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const pbkdf2 = promisify(pbkdf2Callback);

/** PostgreSQL's own default (`scram_iterations`). */
const ITERATIONS = 4_096;

/**
 * What PostgreSQL stores for a password, made here so that the password itself never stands in SQL, where the server
 * log could keep it. `password` must be ASCII (ours are base64url): SASLprep is not done. Source: RFC 5803, RFC 7677.
 */
export async function scramVerifier(password: string, salt = randomBytes(16)): Promise<string> {
  const salted = await pbkdf2(password, salt, ITERATIONS, 32, 'sha256');
  const storedKey = createHash('sha256').update(hmac(salted, 'Client Key')).digest('base64');
  const serverKey = hmac(salted, 'Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
