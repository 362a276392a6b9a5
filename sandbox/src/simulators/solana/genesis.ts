import { base58 } from '@scure/base';
import { testWallets } from '../../seed/keys.ts';
import { solanaRoles } from '../../seed/solana-keys.ts';
import type { ChainOptions } from './chain.ts';
import { addressWithSeed, associatedAccount } from './derived-address.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from './programs.ts';
import { TOKEN_ACCOUNT_BYTES } from './token-account.ts';

/** A token that the faucet can mint. `address` is the mint. */
export type SolanaToken = { asset_id: string; code: string; name: string; address: string; decimals: number };

/** The tokens and accounts that exist from the chain's first slot on. */
export type SolanaDeployment = {
  tokens: SolanaToken[];
  /** The fund of the open token sale. Users approve the fund as the delegate of their token accounts. */
  sale_fund: string;
  /** The cold wallet's token account, which receives the fund's money. */
  vault: string;
};

type Genesis = ChainOptions['genesis'][number];

const SOL = 1_000_000_000n;
const UNIT = 1_000_000n;
const DECIMALS = 6;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;
const MINT_BYTES = 82;
const MULTISIG_BYTES = 355;
const WALLET_DOLLARS = 1_000_000n * UNIT;
const REFUND_ALLOWANCE = 1_000_000n * UNIT;
const FUND_SEED = 'harbour-quarter';

const { faucet, operator, standby, vaultOwner, usdCoin } = solanaRoles;
const wallets = testWallets
  .filter(({ protocol }) => protocol === 'solana')
  .map(({ address }) => base58.decode(address));
const mint = usdCoin.publicKey;
const fund = addressWithSeed(operator.publicKey, FUND_SEED, TOKEN_PROGRAM);
const vault = associatedAccount(vaultOwner.publicKey, mint);

export const solanaDeployment: SolanaDeployment = {
  tokens: [
    {
      asset_id: 'usd-coin',
      code: 'USDC',
      name: 'USD Coin',
      address: base58.encode(mint),
      decimals: DECIMALS,
    },
  ],
  sale_fund: base58.encode(fund),
  vault: base58.encode(vault),
};

/** The accounts in the first slot: funded keys, the test dollar, the open sale's fund and its vault. */
export const solanaGenesis: Genesis[] = [
  wallet(faucet.publicKey, 100_000_000n * SOL),
  wallet(operator.publicKey, 1_000n * SOL),
  wallet(vaultOwner.publicKey, 100n * SOL),
  ...wallets.map((owner) => wallet(owner, 100n * SOL)),
  tokenProgramAccount(mint, encodeMint(BigInt(wallets.length) * WALLET_DOLLARS)),
  ...wallets.map((owner) =>
    tokenProgramAccount(associatedAccount(owner, mint), encodeTokenAccount(owner, WALLET_DOLLARS)),
  ),
  tokenProgramAccount(fund, encodeMultisig(1, [operator.publicKey, standby.publicKey])),
  tokenProgramAccount(
    vault,
    encodeTokenAccount(vaultOwner.publicKey, 0n, { delegate: fund, amount: REFUND_ALLOWANCE }),
  ),
];

function wallet(key: Uint8Array, lamports: bigint): Genesis {
  const state = { lamports, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false };
  return { key, state: { ...state, rentEpoch: RENT_EXEMPT_EPOCH } };
}

function tokenProgramAccount(key: Uint8Array, data: Uint8Array): Genesis {
  // The minimum balance on the public networks: 6,960 lamports per byte, for the data and 128 bytes of metadata.
  const lamports = BigInt(data.length + 128) * 6_960n;
  const state = { lamports, owner: TOKEN_PROGRAM, data, executable: false };
  return { key, state: { ...state, rentEpoch: RENT_EXEMPT_EPOCH } };
}

function encodeMint(supply: bigint): Uint8Array {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeUInt32LE(1, 0);
  data.set(faucet.publicKey, 4);
  data.writeBigUInt64LE(supply, 36);
  data.writeUInt8(DECIMALS, 44);
  data.writeUInt8(1, 45);
  data.writeUInt32LE(1, 46);
  data.set(faucet.publicKey, 50);
  return data;
}

function encodeTokenAccount(
  owner: Uint8Array,
  amount: bigint,
  approval?: { delegate: Uint8Array; amount: bigint },
): Uint8Array {
  const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  data.set(mint, 0);
  data.set(owner, 32);
  data.writeBigUInt64LE(amount, 64);
  data.writeUInt8(1, 108);
  if (approval) {
    data.writeUInt32LE(1, 72);
    data.set(approval.delegate, 76);
    data.writeBigUInt64LE(approval.amount, 121);
  }
  return data;
}

function encodeMultisig(required: number, signers: Uint8Array[]): Uint8Array {
  const data = Buffer.alloc(MULTISIG_BYTES);
  data.set([required, signers.length, 1], 0);
  signers.forEach((signer, index) => {
    data.set(signer, 3 + 32 * index);
  });
  return data;
}
