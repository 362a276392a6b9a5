import type { EvmChain } from '../../platform/chain/evm/client.ts';
import type { Chains } from '../../platform/chain/open-chains.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listKeyStates, listOpenStates } from '../../platform/operator/key-state-store.ts';
import { daysLeft, type KeyOnChain, readKeyOnChain } from '../../platform/operator/status.ts';
import { listBacklog } from './backlog-store.ts';
import { findSubject } from './pause.ts';
import { listPauses } from './pause-store.ts';
import { listChainsOf, listDifferences, listPasses } from './reconcile-pass-store.ts';
import { listSlugs } from './reconcile-store.ts';

type AnyChain = EvmChain | SolanaChain;

/** A transaction that is open for longer than this is listed as stuck. */
const STUCK_SECONDS = 600;

/**
 * Describes the settlement of one chain, of one offer (by its slug), or of all chains if `chainOrSlug` is null. Needs
 * no private key. Balances are null for a chain that cannot be read. Throws `not_found` if no chain or offer has this
 * name.
 */
export async function readSettlementStatus(db: Db, chains: Chains, chainOrSlug: string | null) {
  const subject = await findSubject(db, chainOrSlug);
  const known: AnyChain[] = [...chains.all(), ...chains.allSolana()];
  const offerId = chainOrSlug === null || chainOrSlug === subject ? null : subject;
  const names = await listNames(db, known, chainOrSlug, offerId);
  const backlog = await listBacklog(db, offerId);
  const pauses = await listPauses(db);
  return {
    // A pause of the subject `*` applies to every chain and offer.
    paused: pauses.filter(
      (pause) => chainOrSlug === null || [chainOrSlug, '*', ...names].includes(pause.subject),
    ),
    backlog: backlog.filter(({ chain }) => names.includes(chain)),
    chains: await Promise.all(
      names.map((name) =>
        describeChain(
          db,
          name,
          known.find((each) => each.name === name),
          offerId,
        ),
      ),
    ),
  };
}

/** Returns the chains to describe: the named chain, the chains of the offer, or all. */
async function listNames(
  db: Db,
  known: readonly AnyChain[],
  chainOrSlug: string | null,
  offerId: string | null,
): Promise<string[]> {
  if (offerId !== null) return listChainsOf(db, offerId);
  if (chainOrSlug !== null) return [chainOrSlug];
  const used = (await listKeyStates(db)).map(({ chain }) => chain);
  const waiting = (await listBacklog(db)).map(({ chain }) => chain);
  return [...new Set([...known.map(({ name }) => name), ...used, ...waiting])].sort();
}

async function describeChain(db: Db, name: string, chain: AnyChain | undefined, offerId: string | null) {
  const open = await listOpenStates(db, name);
  const keys = (await listKeyStates(db, name)).map(async (key) => {
    const onChain = chain && (await readKeyOnChain(chain, key.address).catch(() => undefined));
    const own = open.filter(({ address }) => address === key.address);
    return {
      address: key.address,
      last_round_at: key.goodRoundAt,
      lease: { held_by_node: key.holder, until: key.leaseUntil },
      ...describeFunds(key, onChain),
      open_transactions: own.length,
      stuck_transactions: own
        .filter(({ ageSeconds }) => ageSeconds > STUCK_SECONDS)
        .map(({ id, kind, nonce, requested, ageSeconds }) => ({
          ...{ id, kind, nonce: nonce === null ? null : String(nonce), requested },
          age_seconds: ageSeconds,
        })),
    };
  });
  return {
    chain: name,
    keys: await Promise.all(keys),
    reconciliation: await describePass(db, name, offerId),
  };
}

/** Describes the balance and the spending of a key. Amounts are in wei or lamports. */
function describeFunds(
  { nextNonce, spent }: { nextNonce: bigint | null; spent: bigint },
  onChain?: KeyOnChain,
) {
  const { balance = null, nonce = null } = onChain ?? {};
  const days = balance === null ? null : daysLeft(balance, spent);
  return {
    balance: balance === null ? null : String(balance),
    balance_days: days === null || !Number.isFinite(days) ? null : days,
    spent_24h: String(spent),
    nonce_gap: nonce === null || nextNonce === null ? null : Number(nextNonce - nonce),
  };
}

/** Describes the last reconciliation of a chain, and the differences that no operator has accepted. */
async function describePass(db: Db, chain: string, offerId: string | null) {
  const pass = (await listPasses(db)).find((each) => each.chain === chain);
  const differences = (await listDifferences(db, chain)).filter(
    ({ offerIds }) => offerId === null || offerIds.includes(offerId),
  );
  const slugs = await listSlugs(
    db,
    differences.flatMap(({ offerIds }) => offerIds),
  );
  return {
    finished_at: pass?.finishedAt ?? null,
    to_block: pass?.toBlock == null ? null : String(pass.toBlock),
    differences: differences.map(({ offerIds, participationIds, hashes, message }) => ({
      ...{ offers: offerIds.map((id) => slugs.get(id) ?? id), message },
      ...{ participation_ids: participationIds, transaction_hashes: hashes },
    })),
  };
}
