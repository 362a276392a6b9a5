import type { EvmWallet, SolanaWallet } from '@causeway/sdk/flows';
import {
  createSolanaTestWallet,
  createTestWallet,
  ProviderError,
  readSignedText,
  type WalletCall,
} from '@causeway/sdk/testing';
import { type ChainConfig, postJson } from '../config.ts';
import { type Approval, askOwner } from './approvals.ts';
import { keepKey, newEvmKey, newSolanaKey } from './keys.ts';

type Chains = readonly ChainConfig[];
const GAS = 10n ** 18n;
const APPROVE = '0x095ea7b3';

export async function openTestWallet(id: string, name: string, chains: Chains): Promise<EvmWallet> {
  const privateKey = await keepKey(`harbour.${id}`, newEvmKey);
  let chainId = chains[0]?.chain_id ?? 0;
  const wallet = createTestWallet({
    privateKey,
    rpcUrls: Object.fromEntries(chains.map(({ chain_id, rpc_url }) => [chain_id, rpc_url])),
    intercept: async (call, next) => {
      const kind = kindOf(call, chains, chainId);
      if (call.method === 'wallet_switchEthereumChain') {
        const answer = await next(call);
        chainId = Number((call.params as [{ chainId: string }])[0].chainId);
        return answer;
      }
      if (kind === null) return next(call);
      const { isApproved, amount } = await askOwner({ wallet: name, address: wallet.address, kind });
      if (!isApproved) throw new ProviderError(4001, 'User rejected the request.');
      return next(amount === undefined ? call : withAmount(call, amount));
    },
  });
  // Gas is not what anybody wants to think about in a sandbox.
  void Promise.allSettled(chains.map((chain) => fillWithGas(chain, wallet.address)));
  return {
    protocol: 'ethereum',
    address: wallet.address.toLowerCase() as `0x${string}`,
    provider: wallet.provider,
  };
}

export async function openSolanaTestWallet(name: string): Promise<SolanaWallet> {
  const privateKey = await keepKey('harbour.solana-wallet', newSolanaKey);
  const wallet = createSolanaTestWallet({
    privateKey,
    confirm: async (message) => {
      const text = new TextDecoder().decode(message);
      const kind = { is: 'message', text } as const;
      return (await askOwner({ wallet: name, address: wallet.address, kind })).isApproved;
    },
  });
  return wallet;
}

/** What the owner is asked about; null for what needs no consent. */
function kindOf(call: WalletCall, chains: Chains, chainId: number): Approval['kind'] | null {
  if (call.method === 'personal_sign') return { is: 'message', text: readSignedText(call) };
  if (call.method === 'eth_signTypedData_v4') {
    const typed = (call.params as [string, string | object])[1];
    const text = JSON.stringify(typeof typed === 'string' ? JSON.parse(typed) : typed, null, 2);
    return { is: 'message', text };
  }
  if (call.method !== 'eth_sendTransaction') return null;
  const [{ to, data = '0x' }] = call.params as [{ to: string; data?: string }];
  const here = chains.find(({ chain_id }) => chain_id === chainId);
  const chain = here?.chain ?? String(chainId);
  const token = here?.tokens.find(({ address }) => address.toLowerCase() === to.toLowerCase());
  if (!data.startsWith(APPROVE) || token === undefined) return { is: 'transaction', to, data, chain };
  return {
    is: 'allowance',
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

async function fillWithGas({ chain, rpc_url }: ChainConfig, address: string): Promise<void> {
  const reply = await fetch(rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] }),
    signal: AbortSignal.timeout(10_000),
  });
  const { result } = (await reply.json()) as { result?: string };
  if (result !== undefined && BigInt(result) >= GAS / 10n) return;
  await postJson(`/sandbox/chains/${chain}/faucet`, { address, amount: GAS.toString() });
}
