import { bytes32Token } from '@causeway/contracts/abi/bytes32-token.ts';
import { fixedPriceMarket } from '@causeway/contracts/abi/fixed-price-market.ts';
import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { fundSwapV1 } from '@causeway/contracts/abi/fund-swap-v1.ts';
import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { tetherLikeToken } from '@causeway/contracts/abi/tether-like-token.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import type { Hex } from 'viem';
import { keccak256, stringToHex, toHex } from 'viem/utils';
import { roles, testWallets } from '../../seed/keys.ts';
import type { Chain } from './chain.ts';
import { planVenue, type VenueDeployment } from './deploy-venue.ts';
import type { EmbeddedChain } from './embedded.ts';
import { MULTICALL_ADDRESS } from './genesis.ts';
import { createPlanner, type PlannedStep, type Planner } from './plan.ts';
import { nextNonce, transact } from './transact.ts';

/** A token that the faucet can mint. */
export type DeployedToken = { asset_id: string; code: string; name: string; address: Hex; decimals: number };

export type DeployedSwap = {
  address: Hex;
  market: Hex;
  output_token: Hex;
  fee_bps: number;
  swap_level: number;
};

/** The funds of the seeded token sales, one per sale. */
export const SALE_FUNDS = ['open', 'ended', 'upcoming', 'other'] as const;

/** The contracts on an embedded chain. */
export type ChainDeployment = {
  multicall: Hex;
  tokens: DeployedToken[];
  sale_funds: Record<(typeof SALE_FUNDS)[number], Hex>;
  /** A newer-generation fund swap: `stopped()` returns a bool, and `paused()` and `status()` exist. */
  fund_swap: DeployedSwap;
  /** An older-generation fund swap: `stopped()` returns a bit mask of what is stopped. */
  older_fund_swap: DeployedSwap;
  venue: VenueDeployment | null;
};

export type DeploymentPlan = { steps: PlannedStep[]; deployment: ChainDeployment };

const COMMIT_AND_REMIT = 6n;
const BUY_ROLE = 1n;
const REVOKE_ROLE = 2n;
const UNIT = 10n ** 6n;
const MIN_COMMIT = UNIT;

/**
 * Plans the transactions that deploy the contracts when a chain first starts. The contracts' addresses depend only on
 * the plan, so they are known in advance.
 */
export function planDeployment({ tokenized }: EmbeddedChain): DeploymentPlan {
  const planner = createPlanner();
  const { create, call, steps } = planner;
  const { deployer } = roles;
  const usdc = create(token, [deployer.address, 'USD Coin', 'USDC', 6]);
  const usdt = create(tetherLikeToken, [deployer.address]);
  const fund = create(token, [deployer.address, 'Causeway Treasury Fund', 'CTF', 6]);
  const legacy = create(bytes32Token, [deployer.address, toBytes32('Legacy Token'), toBytes32('LEG')]);

  for (const { address } of testWallets.filter(({ protocol }) => protocol === 'ethereum')) {
    for (const dollar of [usdc, usdt])
      call('deployer', dollar, token, 'mint', [address as Hex, 1_000_000n * UNIT]);
  }
  const sale_funds = Object.fromEntries(SALE_FUNDS.map((name) => [name, planSaleFund(planner, name)]));
  const fund_swap = planFundSwap(planner, fundSwap, {
    output: fund,
    inputs: [usdc, usdt],
    feeBps: 50,
    swapLevel: 2,
  });
  const older_fund_swap = planFundSwap(planner, fundSwapV1, {
    output: fund,
    inputs: [usdc, usdt],
    feeBps: 25,
    swapLevel: 4,
  });
  const venue = tokenized ? planVenue(planner, [usdc, usdt]) : null;
  for (const { address } of [fund_swap, older_fund_swap])
    call('owner', address, fundSwap, 'grantRoles', [roles.operator.address, REVOKE_ROLE]);
  const tokens = [
    { asset_id: 'usd-coin', code: 'USDC', name: 'USD Coin', address: usdc, decimals: 6 },
    { asset_id: 'tether', code: 'USDT', name: 'Tether', address: usdt, decimals: 6 },
    {
      asset_id: 'causeway-treasury-fund',
      code: 'CTF',
      name: 'Causeway Treasury Fund',
      address: fund,
      decimals: 6,
    },
    { asset_id: 'legacy-token', code: 'LEG', name: 'Legacy Token', address: legacy, decimals: 18 },
    ...(venue?.assets ?? []).map(({ symbol, name, address, decimals }) => ({
      asset_id: symbol.toLowerCase(),
      code: symbol,
      name,
      address,
      decimals,
    })),
  ];
  return {
    steps,
    deployment: {
      multicall: MULTICALL_ADDRESS,
      tokens,
      sale_funds: sale_funds as ChainDeployment['sale_funds'],
      fund_swap,
      older_fund_swap,
      venue,
    },
  };
}

function toBytes32(text: string): Hex {
  return stringToHex(text, { size: 32 });
}

function planSaleFund({ create, call }: Planner, name: string): Hex {
  const address = create(saleFund, [
    roles.owner.address,
    keccak256(toHex(`causeway sandbox sale: ${name}`)),
    MIN_COMMIT,
  ]);
  call('owner', address, saleFund, 'grantRoles', [roles.operator.address, COMMIT_AND_REMIT]);
  return address;
}

type SwapPlan = { output: Hex; inputs: Hex[]; feeBps: number; swapLevel: number };

function planFundSwap(
  { create, call }: Planner,
  artifact: typeof fundSwap | typeof fundSwapV1,
  { output, inputs, feeBps, swapLevel }: SwapPlan,
): DeployedSwap {
  const owner = roles.owner.address;
  const market = create(fixedPriceMarket, [owner, output, owner]);
  for (const input of inputs) call('owner', market, fixedPriceMarket, 'setPrice', [input, 10n * UNIT]);
  call('deployer', output, token, 'mint', [market, 10_000_000n * UNIT]);
  const config = {
    owner,
    market,
    feeRecipient: owner,
    feeBps: BigInt(feeBps),
    supplier: roles.supplier.address,
    swapLevel,
  };
  const address = create(artifact as typeof fundSwap, [config]);
  call('owner', market, fixedPriceMarket, 'grantRoles', [address, BUY_ROLE]);
  return { address, market, output_token: output, fee_bps: feeBps, swap_level: swapLevel };
}

/** Sends the steps that earlier starts did not complete. Each sender's nonce shows how many of its steps are done. */
export async function deploy(chain: Chain, chainId: number, steps: PlannedStep[]): Promise<void> {
  for (const { by, ...step } of steps) {
    if (step.nonce < (await nextNonce(chain, roles[by].address))) continue;
    const { status } = await transact(chain, roles[by], { ...step, chainId });
    if (status !== 'success') throw new Error(`deployment transaction ${step.nonce} from ${by} reverted`);
  }
}
