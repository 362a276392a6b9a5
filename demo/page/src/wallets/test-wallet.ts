import type { EvmWallet, SolanaWallet } from '@causeway/sdk/flows';
import {
  createSolanaTestWallet,
  createTestWallet,
  ProviderError,
  readSignedText,
  readSolanaApproval,
  type WalletCall,
} from '@causeway/sdk/testing';
import { callNode } from '../call-node.ts';
import { type ChainConfig, postJson } from '../config.ts';
import { fundWallet } from '../sandbox/faucet.ts';
import { type ApprovalRequest, requestApproval } from './approvals.ts';
import { loadOrCreateKey, newEvmKey, newSolanaKey } from './keys.ts';

type Chains = readonly ChainConfig[];
const GAS_WEI = 10n ** 18n;
const LAMPORTS = 1_000_000_000;
const APPROVE_SELECTOR = '0x095ea7b3';

export async function openTestWallet(id: string, name: string, chains: Chains): Promise<EvmWallet> {
  const privateKey = await loadOrCreateKey(`harbour.${id}`, newEvmKey);
  let chainId = chains[0]?.chain_id ?? 0;
  const wallet = createTestWallet({
    privateKey,
    rpcUrls: Object.fromEntries(chains.map(({ chain_id, rpc_url }) => [Number(chain_id), rpc_url])),
    intercept: async (call, next) => {
      const request = approvalRequestOf(call, chains, chainId);
      if (call.method === 'wallet_switchEthereumChain') {
        const result = await next(call);
        chainId = Number((call.params as [{ chainId: string }])[0].chainId);
        return result;
      }
      if (request === null) return next(call);
      const { isApproved, amount } = await requestApproval({
        wallet: name,
        address: wallet.address,
        request,
      });
      if (!isApproved) throw new ProviderError(4001, 'User rejected the request.');
      return next(amount === undefined ? call : withAmount(call, amount));
    },
  });
  // Funds a new wallet with gas and dollars, so that sandbox users do not have to fund it themselves.
  void Promise.allSettled(chains.map((chain) => topUp(chain, wallet.address)));
  return {
    protocol: 'ethereum',
    address: wallet.address.toLowerCase() as `0x${string}`,
    provider: wallet.provider,
  };
}

export async function openSolanaTestWallet(
  name: string,
  chain: ChainConfig | undefined,
): Promise<SolanaWallet> {
  const privateKey = await loadOrCreateKey('harbour.solana-wallet', newSolanaKey);
  const ask = async (request: ApprovalRequest) =>
    (await requestApproval({ wallet: name, address: wallet.address, request })).isApproved;
  const wallet = createSolanaTestWallet({
    privateKey,
    confirm: (message) => ask({ type: 'message', text: new TextDecoder().decode(message) }),
    rpcUrl: chain?.rpc_url,
    confirmTransaction: (message) => ask(solanaRequestOf(message, chain)),
  });
  if (chain !== undefined) void topUpLamports(chain, wallet.address).catch(() => undefined);
  return wallet;
}

function solanaRequestOf(message: Uint8Array, chain: ChainConfig | undefined): ApprovalRequest {
  const approval = readSolanaApproval(message);
  const token = chain?.tokens.find(({ address }) => address === approval?.mint);
  const network = chain?.chain ?? 'solana_devnet';
  if (approval === null || token === undefined)
    return { type: 'transaction', to: 'several programs', data: toHex(message), chain: network };
  const { spender, amount } = approval;
  return { type: 'allowance', chain: network, token: token.code, decimals: token.decimals, spender, amount };
}

const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

async function topUpLamports({ chain, rpc_url }: ChainConfig, address: string): Promise<void> {
  const result = await callNode<{ value: number }>(rpc_url, 'getBalance', [address]).catch(() => undefined);
  if (result !== undefined && result.value >= LAMPORTS / 10) return;
  await postJson(`/sandbox/chains/${chain}/faucet`, { address, amount: String(LAMPORTS) });
}

/** Returns the request that the owner must approve, or null if the call needs no approval. */
function approvalRequestOf(call: WalletCall, chains: Chains, chainId: number): ApprovalRequest | null {
  if (call.method === 'personal_sign') return { type: 'message', text: readSignedText(call) };
  if (call.method === 'eth_signTypedData_v4') {
    const typedData = (call.params as [string, string | object])[1];
    const text = JSON.stringify(typeof typedData === 'string' ? JSON.parse(typedData) : typedData, null, 2);
    return { type: 'message', text };
  }
  if (call.method !== 'eth_sendTransaction') return null;
  const [{ to, data = '0x' }] = call.params as [{ to: string; data?: string }];
  const current = chains.find(({ chain_id }) => chain_id === chainId);
  const chain = current?.chain ?? String(chainId);
  const token = current?.tokens.find(({ address }) => address.toLowerCase() === to.toLowerCase());
  if (!data.startsWith(APPROVE_SELECTOR) || token === undefined)
    return { type: 'transaction', to, data, chain };
  return {
    type: 'allowance',
    chain,
    token: token.code,
    decimals: token.decimals,
    spender: `0x${data.slice(34, 74)}`,
    amount: BigInt(`0x${data.slice(74, 138)}`),
  };
}

function withAmount(call: WalletCall, amount: bigint): WalletCall {
  const [transaction] = call.params as [{ data: string }];
  const data = transaction.data.slice(0, 74) + amount.toString(16).padStart(64, '0');
  return { ...call, params: [{ ...transaction, data }] };
}

async function topUp(chain: ChainConfig, address: string): Promise<void> {
  const result = await callNode<string>(chain.rpc_url, 'eth_getBalance', [address, 'latest']).catch(
    () => undefined,
  );
  if (result === undefined || BigInt(result) < GAS_WEI / 10n) await fundWallet(chain, address);
}
