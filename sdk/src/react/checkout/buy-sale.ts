import { isEvmChain, type SolanaChain } from '../../chains.ts';
import type { Causeway } from '../../client.ts';
import type { FlowError, FlowOptions } from '../../flows/flow.ts';
import type { TokenSalePhase } from '../../flows/sale-purchase.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import type { Flows } from '../hooks/use-flow.ts';
import { codeOf } from '../ui/error-messages.ts';
import { type OpenApproval, readNeeded } from './read-open-approvals.ts';
import { runExclusively, runsElsewhere, saleLock, swapLock } from './run-exclusively.ts';
import {
  findApproved,
  findLatest,
  saleClosed,
  type UnfinishedSale,
  type useUnfinishedSales,
} from './unfinished-sale.ts';

type Recorded = ReturnType<typeof useUnfinishedSales> & { lock: string };
type Options = FlowOptions<TokenSalePhase>;
/**
 * One run of a purchase on this page. `purchase` is also recorded in browser storage. If the storage is full or
 * blocked, this in-memory copy still has the approval's hash.
 */
export type Attempt = {
  purchase: UnfinishedSale;
  /**
   * True if this attempt continues an earlier purchase. The attempt then uses the existing approval, if there is one.
   */
  readonly isResumed: boolean;
  /**
   * Whether a retry may start a new purchase. False if this purchase may already be finished, here or in another tab.
   */
  canRetry: boolean;
  /** Whether browser storage had a record of the purchase when the attempt started. */
  readonly wasRecorded: boolean;
};
type Sale = {
  offer: OfferDetails;
  wallet: Wallet;
  attempt: Attempt;
  recorded: Recorded;
  /** Called if the service has already used the purchase's approval. */
  onApprovalUsed(purchase: UnfinishedSale): void;
  /**
   * Resets the flow to `idle`. Called if the user starts a new purchase before finishing an approved one. In `idle`,
   * the checkout shows the approved purchase, so that the user can finish or discard it.
   */
  reset(): void;
};

/** Errors after which the approval cannot be used and a new one is needed. */
const UNUSABLE_APPROVAL_CODES: ReadonlySet<string> = new Set([
  ...['approval_already_used', 'approval_invalid', 'approval_failed', 'insufficient_allowance'],
  ...['transaction_not_found', 'transaction_reverted', 'transaction_replaced'],
]);

/**
 * Runs a purchase, and keeps a record of it in the browser until the service has created the participation. Throws
 * `purchase_elsewhere` if another page is buying from the same offer or is using the same wallet to buy from any token
 * sale, or if a new approval would replace the approval that an unfinished purchase from another offer needs.
 */
export function buySale(
  flows: Flows,
  causeway: Causeway,
  sale: Sale,
  options: Options,
): Promise<Participation> {
  const { offer, recorded, wallet, attempt, onApprovalUsed, reset } = sale;
  const { isResumed } = attempt;
  return runAlone(recorded, wallet, async () => {
    // Reads the records again, because another page may have changed them. A new purchase cannot start while another
    // purchase is approved but not finished.
    const stored = recorded.read();
    if (!isResumed && findApproved(stored)) {
      reset();
      throw runsElsewhere();
    }
    const purchase = isResumed ? findLatest(stored, attempt.purchase) : attempt.purchase;
    if (purchase === undefined) throw saleClosed();
    // Passes no participations to check, because the flow itself waits for those that need the allowance.
    if (purchase.approvalHash === null) await assertUnneeded(causeway, offer, purchase, recorded, []);
    // Records the purchase before the wallet opens, because the user may leave the page and then approve in the wallet.
    recorded.record(purchase);
    let { approvalHash } = purchase;
    /** The wallet's pending answer to a request to send a transaction. */
    let prompt = undefined as Promise<unknown> | undefined;
    const onApproved = (hash: string) => {
      approvalHash = hash;
      attempt.purchase = { ...purchase, approvalHash };
      recorded.record(attempt.purchase);
    };
    try {
      const found =
        isResumed && approvalHash === null
          ? await findApproval(flows, causeway, { ...sale, purchase }, options)
          : null;
      if (found !== null) onApproved(found);
      const input = { ...sale, purchase: { ...purchase, approvalHash }, onApproved };
      const participation = await startFlow(flows, causeway, input, {
        ...options,
        onSend: (answer) => {
          prompt = answer;
        },
        onTransaction: (sent) => {
          prompt = undefined;
          if (sent.phase === 'approving') onApproved(sent.hash);
          options.onTransaction?.(sent);
        },
      });
      recorded.remove(purchase.id);
      return participation;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'approval_already_used') onApprovalUsed(purchase);
      // After an abort, the wallet prompt may still be open. Waits for the wallet's answer, so that no other purchase
      // can start while the prompt is open.
      const mayBeSent =
        code === 'outcome_unknown' ||
        (code === 'aborted' &&
          (await prompt?.then(
            () => true,
            (late) => !flows.isRejected(late),
          )));
      // Removes the record if there is nothing to finish, either because this is a new purchase for which the wallet
      // definitely sent no approval, or because the approval cannot be used.
      const mayBeApproved = mayBeSent && (error as FlowError<TokenSalePhase>).phase === 'approving';
      const isEmpty = approvalHash === null && !isResumed && !mayBeApproved;
      if (isEmpty || UNUSABLE_APPROVAL_CODES.has(code)) {
        attempt.purchase = { ...purchase, approvalHash: null };
        attempt.canRetry = code !== 'approval_already_used';
        recorded.remove(purchase.id);
      }
      throw error;
    }
  });
}

type Order = Pick<Sale, 'offer' | 'wallet'> & { purchase: UnfinishedSale };

/** Finds the hash of an approval that this browser did not record. */
async function findApproval(flows: Flows, causeway: Causeway, order: Order, options: Options) {
  const { offer, wallet, purchase } = order;
  const { chain, assetId, amount } = purchase;
  if (wallet.protocol !== 'ethereum' || !isEvmChain(chain)) return null;
  const approval = { offer, chain, wallet, assetId, amount };
  return flows.findOpenApproval(causeway, approval, { ...options, onTransaction: undefined });
}

/** Runs the flow for the wallet's protocol. */
function startFlow(
  flows: Flows,
  causeway: Causeway,
  { offer, purchase, wallet, onApproved }: Order & { onApproved(hash: string): void },
  options: Options,
): Promise<Participation> {
  const { optionId, chain, assetId, amount } = purchase;
  const approvalHash = purchase.approvalHash ?? undefined;
  const input = { offer, optionId, assetId, amount, onApproved };
  if (wallet.protocol === 'solana')
    return flows.buyTokenSaleOnSolana(
      causeway,
      { ...input, wallet, chain: chain as SolanaChain, approvalHash },
      options,
    );
  if (!isEvmChain(chain)) throw new Error(`Connect a Solana wallet to invest on ${chain}.`);
  const hash = approvalHash as `0x${string}` | undefined;
  return flows.runTokenSale(causeway, { ...input, wallet, chain, approvalHash: hash }, options);
}

/**
 * Discards a purchase: runs `work`, if given, to revoke the approval, and then removes the record. If the service
 * already has a participation for the purchase, returns that participation and skips `work`, because the participation
 * needs the approval. Throws `purchase_elsewhere` instead of running `work` if something else needs the allowance.
 */
export function discardSale(
  causeway: Causeway,
  { offer, purchase, recorded }: Pick<Sale, 'offer' | 'recorded'> & { purchase: UnfinishedSale },
  work?: () => Promise<unknown>,
): Promise<Participation | undefined> {
  return runAlone(recorded, { address: purchase.wallet }, async () => {
    // Reads the record again, because another page may have approved or finished the purchase.
    const latest = findLatest(recorded.read(), purchase);
    if (latest === undefined) throw saleClosed();
    const found = await findParticipation(causeway, offer, latest);
    if (found === undefined && work !== undefined) {
      await assertUnneeded(causeway, offer, latest, recorded);
      await work();
    }
    recorded.remove(purchase.id);
    return found;
  });
}

/**
 * Runs `work`, which revokes an approval, unless the approval may still be needed. Throws `purchase_elsewhere` if
 * another page is running a purchase, an approved purchase is recorded, or a participation uses the approval.
 */
export function revokeUnused(
  causeway: Causeway,
  {
    offer,
    approval,
    wallet,
    recorded,
  }: Pick<Sale, 'offer' | 'wallet' | 'recorded'> & { approval: OpenApproval },
  work: () => Promise<unknown>,
): Promise<void> {
  const revoke = async () => {
    if (findApproved(recorded.read())) throw runsElsewhere();
    await assertUnneeded(causeway, offer, { ...approval, wallet: wallet.address }, recorded);
    await work();
  };
  return offer.type === 'platform::token_sale'
    ? runAlone(recorded, wallet, revoke)
    : runExclusively(swapLock(wallet), revoke);
}

/**
 * Throws `purchase_elsewhere` if a participation, or an approved purchase from another offer, needs the allowance.
 * `users` are the participations to consider. Default: those that the service lists.
 */
async function assertUnneeded(
  causeway: Causeway,
  offer: OfferDetails,
  sale: Pick<UnfinishedSale, 'wallet' | 'chain' | 'assetId'>,
  { readOthers }: Recorded,
  users?: readonly Participation[],
): Promise<void> {
  const isNeeded = await readNeeded(causeway, offer, sale.wallet, readOthers(), undefined, users);
  if (isNeeded(sale)) throw runsElsewhere();
}

/**
 * Runs `work`. Meanwhile, no other page can buy from this offer, or use this wallet to buy from any token sale.
 * Throws `purchase_elsewhere` if another page is already doing so.
 */
function runAlone<Result>(
  { lock }: Pick<Recorded, 'lock'>,
  wallet: { address: string },
  work: () => Promise<Result>,
): Promise<Result> {
  return runExclusively(lock, () => runExclusively(saleLock(wallet), work));
}

/** Finds the participation that used the purchase's approval. A purchase without an approval has no participation. */
async function findParticipation(
  causeway: Causeway,
  { id: value }: OfferDetails,
  { approvalHash }: UnfinishedSale,
): Promise<Participation | undefined> {
  if (approvalHash === null) return undefined;
  const filters = [{ field: 'offer_id', op: '==', value }] as const;
  for await (const one of causeway.participations.list({ filters, include: 'transactions' }))
    if (one.transactions?.approval_hash === approvalHash) return one;
  return undefined;
}
