import { Gauge } from 'prom-client';
import type { Hex } from 'viem';
import type { ApiError } from '../../kernel/errors.ts';
import type {
  ContractProblem,
  EvmContract,
  OfferContract,
  StoredOffer,
} from '../../kernel/model/stored-offer.ts';
import { findApiError } from '../../platform/chain/rpc/failures.ts';
import type { Context } from '../../platform/context/context.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { listServedOffers } from '../offers/offer.ts';
import { setContractProblem } from '../offers/store.ts';
import { describeFailure, readViews, requiredViews } from '../offers/views.ts';
import { assertOperator, readDomain } from '../tokenized/swap-domain.ts';
import { readFeeBps } from './contract-checks.ts';

const WATCH_INTERVAL_MS = 30_000;

/** Gauges that are 1 for every affected contract of a published offer that has not ended. */
export type ContractGauges = Record<'unreadable' | 'feeMismatch', Gauge<'offer' | 'chain'>>;

export function createContractGauges({ metrics }: Pick<Context, 'metrics'>): ContractGauges {
  const labelNames = ['offer', 'chain'] as const;
  const registers = [metrics.registry];
  return {
    unreadable: new Gauge({
      name: 'causeway_offer_contract_unreadable',
      help: 'Offer contracts that cannot be read. Nobody can invest through them until they can be read again.',
      ...{ labelNames, registers },
    }),
    feeMismatch: new Gauge({
      name: 'causeway_offer_contract_fee_mismatch',
      help: "Tokenized swap contracts whose fee is not the offer's. Orders are refused while the fee is higher.",
      ...{ labelNames, registers },
    }),
  };
}

/**
 * Disables contracts of published offers that cannot be read, and enables them once they can be read again. While a
 * chain's RPC endpoint is unreachable, its contracts stay as they are. Any number of nodes may run this.
 */
export async function watchContracts(ctx: Context, gauges: ContractGauges): Promise<void> {
  const served = await listServedOffers(ctx);
  const found = await Promise.all(
    served.flatMap((offer) =>
      offer.contracts.map(async (contract) => ({
        offer,
        contract,
        problem: await watch(ctx, offer, contract),
        hasOtherFee: await hasOtherFee(ctx, offer, contract),
      })),
    ),
  );
  gauges.unreadable.reset();
  gauges.feeMismatch.reset();
  for (const { offer, contract, problem, hasOtherFee } of found) {
    const labels = { offer: offer.slug, chain: contract.chain };
    if (problem !== null) gauges.unreadable.set(labels, 1);
    if (hasOtherFee) gauges.feeMismatch.set(labels, 1);
  }
}

async function watch(
  ctx: Context,
  offer: StoredOffer,
  contract: OfferContract,
): Promise<ContractProblem | null> {
  const problem = await findProblem(ctx, offer, contract);
  if (problem === 'unreachable') return contract.unreadable;
  const { chain, address } = contract;
  if (!(await setContractProblem(ctx.db, { offer_id: offer.id, chain, address }, problem))) return problem;
  const fields = { offer: offer.slug, chain, contract: address };
  if (problem === null) ctx.log.info(fields, 'offer contract can be read again');
  else ctx.log.error({ ...fields, reason: problem.reason }, 'offer contract disabled: it cannot be read');
  return problem;
}

async function findProblem(
  ctx: Context,
  { type }: StoredOffer,
  deployment: OfferContract,
): Promise<ContractProblem | null | 'unreachable'> {
  try {
    // `evm` throws for a Solana chain: settlement checks contracts there before it sends transactions.
    const chain = ctx.chains.evm(deployment.chain);
    const contract = deployment as EvmContract;
    const [failure] = await readViews(chain, requiredViews(type, contract));
    if (failure !== undefined) return toProblem(failure.error, failure.signature);
    if (type === 'tokenized::swap') {
      await readDomain(chain, contract);
      const signer = ctx.signerOf('quote', chain.name);
      if (signer !== null) await assertOperator(chain, contract, signer);
    }
    return null;
  } catch (thrown) {
    const error = findApiError(thrown);
    if (error === undefined) throw thrown;
    return toProblem(error, null);
  }
}

async function hasOtherFee(
  ctx: Context,
  { type, fee_bps }: StoredOffer,
  { chain, address }: OfferContract,
): Promise<boolean> {
  if (type !== 'tokenized::swap') return false;
  try {
    return (await readFeeBps(ctx.chains.evm(chain), address as Hex)) !== (fee_bps ?? 0);
  } catch (thrown) {
    if (findApiError(thrown) === undefined) throw thrown;
    return false;
  }
}

function toProblem(error: ApiError, signature: string | null): ContractProblem | 'unreachable' {
  const { code } = error;
  if (code !== 'contract_not_found' && code !== 'contract_reverted') return 'unreachable';
  const reason = describeFailure(error);
  return { code, reason: signature === null ? reason : `${signature}: ${reason}` };
}

export function startContractWatch(ctx: Context): () => Promise<void> {
  const gauges = createContractGauges(ctx);
  const run = () => watchContracts(ctx, gauges);
  const first = run().catch((err: unknown) => ctx.log.warn({ err }, 'contract watch failed'));
  const stop = startInterval(ctx, WATCH_INTERVAL_MS, 'contract watch failed', run);
  return async () => {
    await first;
    await stop();
  };
}
