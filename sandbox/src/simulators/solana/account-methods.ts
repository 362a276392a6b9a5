import { base58 } from '@scure/base';
import { invalidParams } from '../rpc-error.ts';
import type { Bank, Node } from './node.ts';
import { type Config, readConfig, readInteger, readKey, readList } from './params.ts';
import { isSameKey } from './programs.ts';
import type { AccountState } from './svm.ts';
import { readMint, readTokenAccount, toParsed, toUiAmount } from './token-account.ts';

const MAX_ACCOUNTS = 100;
const MAX_BASE58_BYTES = 128;

type Params = readonly unknown[];

export const accountMethods = {
  getAccountInfo: (node: Node, [address, options]: Params) => {
    const config = readConfig(options);
    const key = readKey(address);
    const bank = node.bank(config);
    return { context: bank.context, value: renderAccount(bank, bank.account(key), config, 'base58') };
  },

  getMultipleAccounts: (node: Node, [addresses, options]: Params) => {
    const config = readConfig(options);
    const keys = readList(addresses, MAX_ACCOUNTS).map(readKey);
    const bank = node.bank(config);
    const value = keys.map((key) => renderAccount(bank, bank.account(key), config, 'base64'));
    return { context: bank.context, value };
  },

  getBalance: (node: Node, [address, options]: Params) => {
    const key = readKey(address);
    const bank = node.bank(readConfig(options));
    return { context: bank.context, value: bank.account(key)?.lamports ?? 0n };
  },

  getTokenAccountBalance: (node: Node, [address, options]: Params) => {
    const key = readKey(address);
    const bank = node.bank(readConfig(options));
    const state = bank.account(key);
    if (!state) throw invalidParams('Invalid param: could not find account');
    const token = readTokenAccount(state);
    const decimals = token && decimalsOf(bank, token.mint);
    if (!token || decimals === undefined || decimals === null)
      throw invalidParams('Invalid param: not a Token account');
    return { context: bank.context, value: toUiAmount(token.amount, decimals) };
  },

  getTokenAccountsByOwner: (node: Node, [address, filter, options]: Params) => {
    const config = readConfig(options);
    const owner = readKey(address);
    const { mint, programId } = readConfig(filter);
    if ((mint === undefined) === (programId === undefined))
      throw invalidParams('Invalid params: expected one of mint, programId');
    const wanted = readKey(mint ?? programId);
    const bank = node.bank(config);
    if (mint !== undefined && !readMint(bank.account(wanted)))
      throw invalidParams('Invalid param: could not find mint');
    const owned = node.chain.ledger
      .tokenAccounts(owner, bank.slot)
      .filter(({ state, token }) => isSameKey(mint === undefined ? state.owner : token.mint, wanted));
    const value = owned.map(({ key, state }) => ({
      pubkey: base58.encode(key),
      account: renderAccount(bank, state, config, 'base58'),
    }));
    return { context: bank.context, value };
  },

  getMinimumBalanceForRentExemption: (node: Node, [bytes]: Params) =>
    node.chain.svm.rentExemption(readInteger(bytes, 'data length')),
};

function decimalsOf(bank: Bank, mint: Uint8Array): number | undefined {
  return readMint(bank.account(mint))?.decimals;
}

/** Renders an account with the encoding and the data slice that `config` requests. */
export function renderAccount(
  bank: Bank,
  account: AccountState | null,
  config: Config,
  defaultEncoding: 'base58' | 'base64',
) {
  if (!account) return null;
  const { data, ...rest } = account;
  return {
    lamports: rest.lamports,
    owner: base58.encode(rest.owner),
    data: renderData(bank, account, config, defaultEncoding),
    executable: rest.executable,
    rentEpoch: rest.rentEpoch,
    space: data.length,
  };
}

function renderData(bank: Bank, account: AccountState, config: Config, defaultEncoding: string) {
  const encoding = config.encoding ?? defaultEncoding;
  const data = Buffer.from(slice(account.data, config.dataSlice));
  switch (encoding) {
    case 'base64':
      return [data.toString('base64'), 'base64'];
    case 'jsonParsed':
      return toParsed(account, (mint) => decimalsOf(bank, mint)) ?? [data.toString('base64'), 'base64'];
    case 'base58':
      if (data.length > MAX_BASE58_BYTES)
        throw invalidParams(
          `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`,
        );
      // If the request has no `encoding`, nodes return the text without an encoding name, as they did before encodings
      // existed.
      return config.encoding === undefined ? base58.encode(data) : [base58.encode(data), 'base58'];
    default:
      throw invalidParams(`Invalid params: unsupported encoding ${String(encoding)}`);
  }
}

function slice(data: Uint8Array, dataSlice: unknown): Uint8Array {
  if (dataSlice === undefined || dataSlice === null) return data;
  const { offset, length } = readConfig(dataSlice);
  const start = readInteger(offset, 'offset');
  return data.subarray(start, start + readInteger(length, 'length'));
}
