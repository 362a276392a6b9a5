import type { PrivateKeyAccount } from 'viem/accounts';
import { tetherLikeToken } from '../abi/tether-like-token.ts';
import { token } from '../abi/token.ts';
import { accounts, type Chain, type Deployed, deploy, send } from './chain.ts';

export type Erc20 = Deployed<typeof token.abi>;

export function deployDollar(chain: Chain): Promise<Erc20> {
  return deploy(chain, token, [accounts.owner.address, 'Test Dollar', 'USDX', 6]);
}

export function deployAsset(chain: Chain, symbol = 'FUND'): Promise<Erc20> {
  return deploy(chain, token, [accounts.owner.address, `${symbol} share`, symbol, 18]);
}

export function deployTetherLike(chain: Chain) {
  return deploy(chain, tetherLikeToken, [accounts.owner.address]);
}

type Mintable = { address: `0x${string}`; abi: readonly unknown[] };

/** Mints tokens to an account and approves a spender for them. */
export async function mintAndApprove(
  chain: Chain,
  token: Mintable,
  account: PrivateKeyAccount,
  spender: `0x${string}`,
  amount: bigint,
): Promise<void> {
  await send(chain, accounts.owner, { ...token, functionName: 'mint', args: [account.address, amount] });
  await send(chain, account, { ...token, functionName: 'approve', args: [spender, amount] });
}

export function balanceOf(chain: Chain, address: `0x${string}`, account: `0x${string}`): Promise<bigint> {
  return chain.client.readContract({ address, abi: token.abi, functionName: 'balanceOf', args: [account] });
}
