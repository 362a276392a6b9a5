import { type Hex, keccak256, toHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { fixedPriceMarket } from '../../abi/fixed-price-market.ts';
import { fundSwap } from '../../abi/fund-swap.ts';
import { fundSwapV1 } from '../../abi/fund-swap-v1.ts';
import { accounts, type Call, type Chain, type Deployed, deploy, now, send } from '../chain.ts';
import { deployAsset, deployDollar, type Erc20, mintAndApprove } from '../tokens.ts';

export type Swap = Deployed<typeof fundSwap.abi>;
export type SwapV1 = Deployed<typeof fundSwapV1.abi>;
export type Market = Deployed<typeof fixedPriceMarket.abi>;
export type Deployment = { swap: Swap; market: Market; dollar: Erc20; asset: Erc20 };

export const offer = keccak256(toHex('offer-1'));
/** The price of one whole asset token, in the dollar's smallest units. */
export const price = 2_500_000n;
export const supply = 1_000n * 10n ** 18n;

type Options = { feeBps?: bigint; supplier?: Hex; swapLevel?: number };

export function swapConfig(
  market: Hex,
  { feeBps = 50n, supplier = accounts.supplier.address, swapLevel = 2 }: Options,
) {
  return {
    owner: accounts.owner.address,
    market,
    feeRecipient: accounts.treasury.address,
    feeBps,
    supplier,
    swapLevel,
  };
}

export async function deployMarket(chain: Chain, artifact = fixedPriceMarket) {
  const dollar = await deployDollar(chain);
  const asset = await deployAsset(chain);
  const market = await deploy(chain, artifact, [
    accounts.owner.address,
    asset.address,
    accounts.venue.address,
  ]);
  await send(chain, accounts.owner, { ...market, functionName: 'setPrice', args: [dollar.address, price] });
  await send(chain, accounts.owner, { ...asset, functionName: 'mint', args: [market.address, supply] });
  return { market, dollar, asset };
}

export function grantBuyRole(chain: Chain, market: Market, buyer: Hex) {
  return send(chain, accounts.owner, { ...market, functionName: 'grantRoles', args: [buyer, 1n] });
}

export async function deploySwap(chain: Chain, options: Options = {}): Promise<Deployment> {
  const deployed = await deployMarket(chain);
  const swap = await deploy(chain, fundSwap, [swapConfig(deployed.market.address, options)]);
  await grantBuyRole(chain, deployed.market, swap.address);
  return { swap, ...deployed };
}

export async function deploySwapV1(chain: Chain, options: Options = {}) {
  const deployed = await deployMarket(chain);
  const swap: SwapV1 = await deploy(chain, fundSwapV1, [swapConfig(deployed.market.address, options)]);
  await grantBuyRole(chain, deployed.market, swap.address);
  return { swap, ...deployed };
}

export const permissionTypes = {
  AllowWallet: [
    { name: 'wallet', type: 'address' },
    { name: 'offer', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;

export type Permission = { wallet: Hex; offer: Hex; nonce: bigint; deadline: bigint };

export function permissionDomain(chainId: number, swap: Hex) {
  return { name: 'Causeway Fund Swap', version: '1', chainId, verifyingContract: swap };
}

export function signPermission(
  chain: Chain,
  swap: Hex,
  message: Permission,
  signer: PrivateKeyAccount = accounts.supplier,
): Promise<Hex> {
  const domain = permissionDomain(chain.id, swap);
  return signer.signTypedData({ domain, types: permissionTypes, primaryType: 'AllowWallet', message });
}

export function allowCall(swap: Deployed<readonly unknown[]>, message: Permission, signature: Hex): Call {
  const args = [message.wallet, message.offer, message.deadline, signature];
  return { address: swap.address, abi: fundSwap.abi, functionName: 'allow', args };
}

/** Calls `allow` with a signed permission for a wallet, and gives the wallet dollars to swap. */
export async function allowAndFund(
  chain: Chain,
  swap: Hex,
  dollar: Erc20,
  wallet: PrivateKeyAccount,
  amount: bigint,
) {
  const permission = { wallet: wallet.address, offer, nonce: 0n, deadline: (await now(chain)) + 600n };
  const signature = await signPermission(chain, swap, permission);
  await send(chain, wallet, allowCall({ address: swap, abi: fundSwap.abi }, permission, signature));
  await mintAndApprove(chain, dollar, wallet, swap, amount);
}
