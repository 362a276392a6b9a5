import { base58 } from '@scure/base';
import { isSameKey, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './programs.ts';
import type { AccountState } from './svm.ts';

export const TOKEN_ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;
/** Token-2022 stores the account type after the classic layout. Type 2 is a token account. */
const TOKEN_ACCOUNT_KIND = 2;

export type TokenAccount = {
  mint: Uint8Array;
  owner: Uint8Array;
  amount: bigint;
  delegate: Uint8Array | null;
  delegatedAmount: bigint;
  isFrozen: boolean;
  closeAuthority: Uint8Array | null;
};

export type Mint = {
  authority: Uint8Array | null;
  supply: bigint;
  decimals: number;
  freezeAuthority: Uint8Array | null;
};

export function isTokenProgram(owner: Uint8Array): boolean {
  return isSameKey(owner, TOKEN_PROGRAM) || isSameKey(owner, TOKEN_2022_PROGRAM);
}

/** Reads a token account. Returns null for any other account. */
export function readTokenAccount(account: AccountState | null): TokenAccount | null {
  if (!account || !isTokenProgram(account.owner)) return null;
  const { length } = account.data;
  const data = Buffer.from(account.data);
  const isTokenAccount =
    length === TOKEN_ACCOUNT_BYTES || (length > TOKEN_ACCOUNT_BYTES && data[165] === TOKEN_ACCOUNT_KIND);
  if (!isTokenAccount || data[108] === 0) return null;
  return {
    mint: data.subarray(0, 32),
    owner: data.subarray(32, 64),
    amount: data.readBigUInt64LE(64),
    delegate: readOption(data, 72),
    delegatedAmount: data.readBigUInt64LE(121),
    isFrozen: data[108] === 2,
    closeAuthority: readOption(data, 129),
  };
}

/** Reads a mint. Returns null for any other account. */
export function readMint(account: AccountState | null): Mint | null {
  if (!account || !isTokenProgram(account.owner) || account.data.length < MINT_BYTES) return null;
  const data = Buffer.from(account.data);
  if (data.length === TOKEN_ACCOUNT_BYTES || data[45] !== 1) return null;
  return {
    authority: readOption(data, 0),
    supply: data.readBigUInt64LE(36),
    decimals: data.readUInt8(44),
    freezeAuthority: readOption(data, 46),
  };
}

function readOption(data: Buffer, offset: number): Uint8Array | null {
  return data.readUInt32LE(offset) === 0 ? null : data.subarray(offset + 4, offset + 36);
}

/** Formats an amount the way nodes do: the integer, and the decimal number as text and as a float. */
export function toUiAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const uiAmountString = fraction === '' ? whole : `${whole}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

/** Renders a token account or mint in the encoding `jsonParsed`. Returns null for any other account. */
export function toParsed(account: AccountState, decimalsOf: (mint: Uint8Array) => number | undefined) {
  const program = isSameKey(account.owner, TOKEN_PROGRAM) ? 'spl-token' : 'spl-token-2022';
  const wrap = (type: string, info: unknown) => ({
    program,
    parsed: { info, type },
    space: account.data.length,
  });
  const encode = (key: Uint8Array | null) => (key ? base58.encode(key) : null);
  const token = readTokenAccount(account);
  if (token) {
    const decimals = decimalsOf(token.mint);
    if (decimals === undefined) return null;
    return wrap('account', {
      isNative: false,
      mint: encode(token.mint),
      owner: encode(token.owner),
      state: token.isFrozen ? 'frozen' : 'initialized',
      tokenAmount: toUiAmount(token.amount, decimals),
      ...(token.delegate && {
        delegate: encode(token.delegate),
        delegatedAmount: toUiAmount(token.delegatedAmount, decimals),
      }),
      ...(token.closeAuthority && { closeAuthority: encode(token.closeAuthority) }),
    });
  }
  const mint = readMint(account);
  return (
    mint &&
    wrap('mint', {
      decimals: mint.decimals,
      freezeAuthority: encode(mint.freezeAuthority),
      isInitialized: true,
      mintAuthority: encode(mint.authority),
      supply: mint.supply.toString(),
    })
  );
}
