const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Returns the key stored in this browser, creating it on first use. */
export async function loadOrCreateKey<Key extends string>(
  name: string,
  create: () => Key | Promise<Key>,
): Promise<Key> {
  const stored = localStorage.getItem(name);
  if (stored !== null) return stored as Key;
  const key = await create();
  localStorage.setItem(name, key);
  return key;
}

export function newEvmKey(): `0x${string}` {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Creates a key in the format that Solana wallets export: the seed followed by the public key, in base58. */
export async function newSolanaKey(): Promise<string> {
  const pair = (await crypto.subtle.generateKey({ name: 'Ed25519' }, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  const seed = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).slice(-32);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  return base58([...seed, ...publicKey]);
}

export function base58(bytes: readonly number[]): string {
  let number = 0n;
  for (const byte of bytes) number = number * 256n + BigInt(byte);
  let text = '';
  for (; number > 0n; number /= 58n) text = ALPHABET[Number(number % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text;
}
