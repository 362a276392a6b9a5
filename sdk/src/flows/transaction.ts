import type { Hex } from 'viem';
import { FlowFailure } from './flow.ts';
import { describeRevert } from './revert.ts';
import { mayBeSent, promptOwner, readNode, type Session } from './session.ts';
import { isOutage } from './wallet-error.ts';

export type Call = { to: Hex; data: Hex };

/**
 * Simulates a call and returns its result. Throws `contract_reverted` if the call would fail, so that no
 * failing call is sent.
 */
export async function simulate(session: Session, call: Call): Promise<Hex> {
  try {
    return (await readNode(session, 'eth_call', [{ from: session.address, ...call }, 'latest'])) as Hex;
  } catch (error) {
    if (session.signal?.aborted || isOutage(error)) throw error;
    const reason = await describeRevert(error);
    throw new FlowFailure('contract_reverted', `The contract would reject this call: ${reason}.`, {
      cause: error,
      details: { reason },
    });
  }
}

/**
 * Asks the wallet to send a call. Reports the transaction's hash as soon as it is known, and returns the hash. If the
 * owner approves the transaction after the flow was aborted, its hash is still reported.
 */
export async function sendTransaction(session: Session, { to, data }: Call): Promise<Hex> {
  // The chain id makes the wallet reject the request if the owner has switched to another chain in the
  // meantime.
  const chainId = `0x${session.chainId.toString(16)}`;
  const from = session.address;
  const nonce = await readNode(session, 'eth_getTransactionCount', [from, 'pending']).catch(() => null);
  const request = { from, to, data, value: '0x0', chainId };
  const sent = parseHash(
    await promptOwner(session, 'eth_sendTransaction', [request], (late) => {
      const hash = parseHash(late);
      if (hash !== null) session.reportTransaction(hash);
    }),
  );
  if (sent === null) throw mayBeSent();
  if (nonce !== null)
    session.sent.set(sent, { hash: sent, from, to, nonce: nonce as Hex, input: data, value: '0x0' });
  session.reportTransaction(sent);
  return sent;
}

function parseHash(answer: unknown): Hex | null {
  const isHash = typeof answer === 'string' && /^0x[0-9a-f]{64}$/i.test(answer);
  return isHash ? (answer.toLowerCase() as Hex) : null;
}
