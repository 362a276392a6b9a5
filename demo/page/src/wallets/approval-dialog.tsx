import { CHAINS, type Chain, formatAmount, isEvmChain, parseAmount } from '@causeway/sdk';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import icon from '../images/test-wallet.svg';
import { useChecksum } from '../shell/copyable.tsx';
import { type Approval, useApproval } from './approvals.ts';

/** Shows what a wallet extension would show in its own window before it signs or sends a transaction. */
export function ApprovalDialog() {
  const approval = useApproval();
  return approval === undefined ? null : <Prompt key={approval.id} approval={approval} />;
}

function Prompt({ approval }: { approval: Approval }) {
  const { request, wallet, address, decide } = approval;
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(
    request.type === 'allowance' ? formatAmount(request.amount, request.decimals) : '',
  );
  useEffect(() => dialog.current?.showModal(), []);
  const amount = request.type === 'allowance' ? parseAmount(text, request.decimals) : null;
  const isInvalid = request.type === 'allowance' && amount === null;
  const approve = () => decide({ isApproved: true, ...(amount !== null && { amount: BigInt(amount) }) });
  const reject = () => decide({ isApproved: false });
  return (
    <dialog ref={dialog} className="approval" aria-labelledby="approval-title" onCancel={reject}>
      <header>
        <img src={icon} alt="" width={32} height={32} />
        <div>
          <strong>{wallet}</strong>
          <code>{`${address.slice(0, 8)}…${address.slice(-6)}`}</code>
        </div>
        <span className="approval-mark">Sandbox</span>
      </header>
      <h2 id="approval-title">{TITLES[request.type]}</h2>
      {request.type === 'message' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the text scrolls, also with the keyboard.
        <pre tabIndex={0}>{request.text}</pre>
      )}
      {request.type === 'transaction' && (
        <Facts
          rows={[
            ['Network', nameOf(request.chain)],
            ['Contract', <ChecksummedAddress key="to" address={request.to} />],
            ['Data', `${request.data.slice(0, 42)}…`],
          ]}
        />
      )}
      {request.type === 'allowance' && (
        <>
          <Facts
            rows={[
              ['Network', nameOf(request.chain)],
              ['Spender', <ChecksummedAddress key="spender" address={request.spender} />],
            ]}
          />
          <label>
            Spending limit
            <span className="with-unit">
              <input
                inputMode="decimal"
                value={text}
                // Only EVM approvals can be edited here. A Solana transaction already contains the amount when it
                // reaches the wallet.
                readOnly={!isEvmChain(request.chain)}
                onChange={(event) => setText(event.target.value.trim())}
                aria-invalid={isInvalid}
              />
              <span>{request.token}</span>
            </span>
          </label>
        </>
      )}
      <footer>
        <button type="button" className="button" onClick={reject}>
          Reject
        </button>
        <button type="button" className="button main" onClick={approve} disabled={isInvalid}>
          Approve
        </button>
      </footer>
    </dialog>
  );
}

const TITLES = {
  message: 'Sign this message?',
  allowance: 'Allow this contract to spend your tokens?',
  transaction: 'Send this transaction?',
} as const;

const nameOf = (chain: string) => (Object.hasOwn(CHAINS, chain) ? CHAINS[chain as Chain].name : chain);

const ChecksummedAddress = ({ address }: { address: string }) => useChecksum(address);

function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
