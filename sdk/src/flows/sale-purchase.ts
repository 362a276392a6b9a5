import type { Hex } from 'viem';
import type { Causeway } from '../client.ts';
import { notify } from '../notify.ts';
import type { EvmChain, OfferDetails, Participation } from '../wire.ts';
import { type Allowance, assertApproved, assertBalance, sendApproval } from './approval.ts';
import { createParticipation, participationBody } from './create-participation.ts';
import { ensureProven } from './ensure-proof.ts';
import { type Enter, FlowFailure, type FlowOptions, runFlow } from './flow.ts';
import { parseSmallestUnits } from './money.ts';
import { findDeployment } from './offer-contract.ts';
import { waitForReceipt } from './receipt.ts';
import { assertEligible, waitForEarlierParticipations } from './sale-checks.ts';
import { connectWallet, openSession, type Session } from './session.ts';
import { assertDescribed } from './token-checks.ts';
import { assertTrusted } from './trusted.ts';
import type { EvmWallet } from './wallet.ts';

export type TokenSalePhase =
  | 'connecting'
  | 'checking'
  | 'waiting_for_earlier'
  | 'proving'
  | 'resetting_allowance'
  | 'signing_permit'
  | 'approving'
  | 'confirming_approval'
  | 'creating';

export type TokenSaleInput = {
  offer: OfferDetails;
  optionId: string;
  chain: EvmChain;
  wallet: EvmWallet;
  /** One of the offer's `funding_assets`. */
  assetId: string;
  /** In smallest units. */
  amount: string | bigint;
  /**
   * How to approve the payment. Default: `approve`. With `permit`, the owner signs an EIP-2612 permit. The wallet then
   * sends the permit in a transaction, because the service needs the approval on chain.
   */
  approval?: 'approve' | 'permit' | undefined;
  /** The hash of an approval that was already sent. If set, the flow resumes with this approval. */
  approvalHash?: Hex | undefined;
  /**
   * Called with the approval's hash. Store the hash, so that the purchase can be resumed. Called again with the new
   * hash if the owner speeds up the transaction.
   */
  onApproved?: ((hash: Hex) => void) | undefined;
};

/**
 * The flow behind `buyTokenSale`. The React components call `runTokenSale` directly, so that their pages do not load
 * the code for permits.
 */
export async function runTokenSale(
  causeway: Causeway,
  input: TokenSaleInput,
  options: FlowOptions<TokenSalePhase>,
  approve: (session: Session, enter: Enter<TokenSalePhase>, wanted: Allowance) => Promise<Hex> = sendApproval,
): Promise<Participation> {
  return runFlow(options, 'connecting', async ({ enter, reportTransaction }) => {
    const { offer, chain, assetId, approvalHash, onApproved } = input;
    const deployment = findDeployment(offer, 'platform::token_sale', chain, assetId);
    assertTrusted(options.trusted, chain, deployment);
    const amount = parseSmallestUnits(input.amount);
    const wanted = { token: deployment.token.address, spender: deployment.address, amount };
    if (approvalHash !== undefined && !/^0x[0-9a-f]{64}$/i.test(approvalHash))
      throw new FlowFailure('invalid_input', 'approvalHash must be a transaction hash.');
    const session = openSession(causeway, input, options, reportTransaction);
    await connectWallet(session);
    const prove = () => ensureProven(session, offer.id, input.optionId, () => enter('proving'));
    let hash = approvalHash?.toLowerCase() as Hex | undefined;
    if (hash !== undefined) await prove();
    else {
      enter('checking');
      await assertDescribed(session, deployment.token);
      await assertEligible(session, offer, input.optionId, deployment.token, amount);
      await assertBalance(session, wanted);
      await waitForEarlierParticipations(session, { offer, assetId }, () => enter('waiting_for_earlier'));
      await prove();
      hash = await approve(session, enter, wanted);
      notify(onApproved, hash);
    }
    enter('confirming_approval');
    const receipt = await waitForReceipt(session, hash, onApproved);
    assertApproved(receipt, session.address, wanted);
    enter('creating');
    const body = participationBody(session, input, amount, receipt.transactionHash);
    return createParticipation(session, body, approvalHash !== undefined);
  });
}
