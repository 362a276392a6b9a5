const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** A key that this browser keeps; made when it has none. */
export async function keepKey<Key extends string>(
  name: string,
  make: () => Key | Promise<Key>,
): Promise<Key> {
  const known = localStorage.getItem(name);
  if (known !== null) return known as Key;
  const key = await make();
  localStorage.setItem(name, key);
  return key;
}

export function newEvmKey(): `0x${string}` {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** As Solana wallets export it: base58 of the seed followed by the public key. */
export async function newSolanaKey(): Promise<string> {
  const pair = (await crypto.subtle.generateKey({ name: 'Ed25519' }, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  const seed = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).slice(-32);
  const open = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  return base58([...seed, ...open]);
}

export function base58(bytes: readonly number[]): string {
  let number = 0n;
  for (const byte of bytes) number = number * 256n + BigInt(byte);
  let text = '';
  for (; number > 0n; number /= 58n) text = ALPHABET[Number(number % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text;
}
