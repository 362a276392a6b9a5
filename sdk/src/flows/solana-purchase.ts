import { decodeBase58 } from '../base58.ts';
import type { SolanaChain } from '../chains.ts';
import type { Causeway } from '../client.ts';
import { notify } from '../notify.ts';
import type { OfferDetails, Participation } from '../wire.ts';
import { createParticipation, participationBody } from './create-participation.ts';
import { ensureWalletProven } from './ensure-proof.ts';
import { FlowFailure, type FlowOptions, runFlow } from './flow.ts';
import { parseSmallestUnits } from './money.ts';
import { assertAccepted, findContract } from './offer-contract.ts';
import { signSolanaMessage } from './proof.ts';
import { assertEligible, waitForEarlierParticipations } from './sale-checks.ts';
import { openWalletSession } from './session.ts';
import {
  assertMint,
  assertSolanaApproved,
  findPayingAccount,
  type SolanaSession,
  sendSolanaApproval,
  waitForSolanaApproval,
} from './solana-approval.ts';
import { assertTrusted } from './trusted.ts';
import type { SolanaWallet } from './wallet.ts';

// Re-exported here, so that all Solana code loads as one file.
export { listTokenAccounts } from './solana-node.ts';

export type SolanaSalePhase =
  | 'checking'
  | 'waiting_for_earlier'
  | 'proving'
  | 'approving'
  | 'confirming_approval'
  | 'creating';

export type SolanaSaleInput = {
  offer: OfferDetails;
  optionId: string;
  chain: SolanaChain;
  wallet: SolanaWallet;
  /** One of the offer's `funding_assets`. */
  assetId: string;
  /** In smallest units. */
  amount: string | bigint;
  /** The base58 signature of an approval that was already sent. If set, the flow resumes with this approval. */
  approvalHash?: string | undefined;
  /** Called with the approval's signature. Store the signature, so that the purchase can be resumed. */
  onApproved?: ((hash: string) => void) | undefined;
};

const MAX_U64 = 2n ** 64n - 1n;

/** The flow behind `buyTokenSaleOnSolana`. */
export async function runSolanaSale(
  causeway: Causeway,
  input: SolanaSaleInput,
  options: FlowOptions<SolanaSalePhase> = {},
): Promise<Participation> {
  return runFlow(options, 'checking', async ({ enter, reportTransaction }) => {
    const { offer, optionId, chain, wallet, assetId, approvalHash, onApproved } = input;
    const amount = parseSmallestUnits(input.amount);
    if (amount > MAX_U64)
      throw new FlowFailure('invalid_input', 'amount must be below 2^64, the limit on Solana.');
    if (approvalHash !== undefined && !isSignature(approvalHash))
      throw new FlowFailure('invalid_input', 'approvalHash must be a transaction signature in base58.');
    const contract = findContract(offer, 'platform::token_sale', chain);
    const token = assertAccepted(offer, contract, assetId);
    assertTrusted(options.trusted, chain, { address: contract.address, token });
    const wanted = { mint: token.address, fund: contract.address, amount, decimals: token.decimals };
    const session: SolanaSession = {
      ...openWalletSession(causeway, { address: wallet.address, chain }, options, reportTransaction),
      ...{ wallet, chain },
    };
    const prove = () =>
      ensureWalletProven(
        session,
        { offerId: offer.id, optionId },
        () => enter('proving'),
        (message) => signSolanaMessage(wallet, message, session.signal),
      );
    const approve = async (): Promise<string> => {
      await assertMint(session, wanted);
      await assertEligible(session, offer, optionId, token, amount);
      await waitForEarlierParticipations(session, { offer, assetId }, () => enter('waiting_for_earlier'));
      const source = await findPayingAccount(session, wanted);
      await prove();
      enter('approving');
      const { hash, lastValidBlockHeight } = await sendSolanaApproval(session, source, wanted);
      reportTransaction(hash);
      notify(onApproved, hash);
      enter('confirming_approval');
      await waitForSolanaApproval(session, hash, lastValidBlockHeight);
      await assertSolanaApproved(session, source, wanted, hash);
      return hash;
    };
    const resume = async (hash: string): Promise<string> => {
      await prove();
      enter('confirming_approval');
      await waitForSolanaApproval(session, hash, undefined);
      return hash;
    };
    const hash = approvalHash === undefined ? await approve() : await resume(approvalHash);
    enter('creating');
    const body = participationBody(session, input, amount, hash);
    return createParticipation(session, body, approvalHash !== undefined);
  });
}

function isSignature(text: string): boolean {
  try {
    return decodeBase58(text).length === 64;
  } catch {
    return false;
  }
}
