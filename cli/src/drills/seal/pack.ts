import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { CliError } from '../../errors.ts';
import { canonicalJson } from './canonical.ts';
import { commitmentOf, type Envelope } from './envelope.ts';

export const PACK_VERSION = 'shop.drill-pack/v1';

/** A round that a facilitator has decided, for a trainee to start: all of it is encrypted but its commitment and its level. */
export interface Pack {
  readonly version: typeof PACK_VERSION;
  readonly commitment: string;
  readonly level: number;
  readonly key: {
    readonly name: 'scrypt';
    readonly N: number;
    readonly r: number;
    readonly p: number;
    readonly salt: string;
  };
  readonly cipher: { readonly name: 'aes-256-gcm'; readonly iv: string; readonly tag: string };
  readonly data: string;
}

/** 32 MiB and some 100 ms for each attempt. Source: OWASP Password Storage Cheat Sheet, scrypt. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const KEY_BYTES = 32;
const [SALT_BYTES, IV_BYTES] = [16, 12];
const MOST_MEMORY = 64 * 2 ** 20;

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

export async function createPack(envelope: Envelope, passphrase: string): Promise<Pack> {
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(IV_BYTES)];
  const open = { version: PACK_VERSION, commitment: commitmentOf(envelope), level: envelope.level } as const;
  const key = await derive(passphrase, salt, KEY_BYTES, { ...COST, maxmem: MOST_MEMORY });
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(canonicalJson(open)));
  const data = Buffer.concat([cipher.update(JSON.stringify(envelope), 'utf8'), cipher.final()]);
  return {
    ...open,
    key: { name: 'scrypt', ...COST, salt: salt.toString('base64') },
    cipher: { name: 'aes-256-gcm', iv: iv.toString('base64'), tag: cipher.getAuthTag().toString('base64') },
    data: data.toString('base64'),
  };
}

/** Throws CliError (2) for another passphrase, and for a pack in which anything was changed. */
export async function openPack(pack: Pack, passphrase: string): Promise<Envelope> {
  const { version, commitment, level, cipher, data } = pack;
  const key = await derive(passphrase, Buffer.from(pack.key.salt, 'base64'), KEY_BYTES, {
    ...COST,
    maxmem: MOST_MEMORY,
  });
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(cipher.iv, 'base64'))
      .setAAD(Buffer.from(canonicalJson({ version, commitment, level })))
      .setAuthTag(Buffer.from(cipher.tag, 'base64'));
    const text = Buffer.concat([decipher.update(Buffer.from(data, 'base64')), decipher.final()]).toString('utf8');
    const envelope = JSON.parse(text) as Envelope;
    if (commitmentOf(envelope) !== commitment) throw new Error('its commitment is of another round');
    return envelope;
  } catch (cause) {
    throw new CliError({
      code: 'pack_not_opened',
      what: 'the pack cannot be opened',
      why: 'the passphrase is another one, or the file was changed',
      next: 'ask the facilitator for the passphrase, or for the file',
      cause,
    });
  }
}

/** Throws CliError (2) for another text. */
export function parsePack(text: string, file: string): Pack {
  const pack = parsed(text);
  const { key, cipher } = pack ?? {};
  const isPack =
    pack?.version === PACK_VERSION &&
    key?.name === 'scrypt' &&
    cipher?.name === 'aes-256-gcm' &&
    [pack.commitment, pack.data, key.salt, cipher.iv, cipher.tag].every((one) => typeof one === 'string') &&
    Object.entries(COST).every(([name, value]) => key[name as keyof typeof COST] === value);
  if (isPack) return pack as Pack;
  throw new CliError({
    code: 'invalid_pack',
    what: `${file} is not a sealed round`,
    why: `it is not JSON of version ${PACK_VERSION}`,
    next: 'name a file of "shopctl drill seal"',
  });
}

function parsed(text: string): Partial<Pack> | null {
  try {
    return JSON.parse(text) as Partial<Pack> | null;
  } catch {
    return null; // Reported by the caller, with the file.
  }
}
