import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { deriveSandboxKey, type SandboxKeyLabel } from '@causeway/service/kernel/config/sandbox-keys.ts';
import { base58 } from '@scure/base';
import { hexToBytes } from 'viem/utils';

// In PKCS #8 (RFC 8410), an Ed25519 private key is this prefix followed by the 32-byte seed.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export type SolanaKey = {
  publicKey: Uint8Array;
  address: string;
  seed: Uint8Array;
  /** The seed followed by the public key, in base58. Solana wallets export private keys in this form. */
  privateKey: string;
  sign(message: Uint8Array): Uint8Array;
};

/** Derives a Solana key from its public label. */
export function solanaKey(label: SandboxKeyLabel): SolanaKey {
  const seed = hexToBytes(deriveSandboxKey(label));
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    publicKey,
    address: base58.encode(publicKey),
    seed,
    privateKey: base58.encode(Buffer.concat([seed, publicKey])),
    sign: (message) => sign(null, message, key),
  };
}

/** The accounts that have a role on the embedded Solana chain. */
export const solanaRoles = {
  /** The account that sends lamports and mints test dollars. */
  faucet: solanaKey('solana faucet'),
  operator: solanaKey('solana operator'),
  /** The fund's second signer. */
  standby: solanaKey('solana standby operator'),
  /** The cold wallet. It owns the vault, the token account that receives the fund's money. */
  vaultOwner: solanaKey('solana vault owner'),
  usdCoin: solanaKey('solana usd coin'),
};
