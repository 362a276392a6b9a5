import { CHAINS, formatAmount, isEvmChain, parseAmount } from '@causeway/sdk';
import { useEffect, useRef, useState } from 'react';
import icon from '../images/test-wallet.svg';
import { type Approval, useApproval } from './approvals.ts';

/** What a wallet would show before it signs or sends: the test wallets have no window of their own. */
export function ApprovalDialog() {
  const approval = useApproval();
  return approval === undefined ? null : <Asking key={approval.id} approval={approval} />;
}

function Asking({ approval }: { approval: Approval }) {
  const { kind, wallet, address, answer } = approval;
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(kind.is === 'allowance' ? formatAmount(kind.amount, kind.decimals) : '');
  useEffect(() => dialog.current?.showModal(), []);
  const amount = kind.is === 'allowance' ? parseAmount(text, kind.decimals) : null;
  const isWrong = kind.is === 'allowance' && amount === null;
  const approve = () => answer({ isApproved: true, ...(amount !== null && { amount: BigInt(amount) }) });
  const reject = () => answer({ isApproved: false });
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
      <h2 id="approval-title">{TITLES[kind.is]}</h2>
      {kind.is === 'message' && <pre>{kind.text}</pre>}
      {kind.is === 'transaction' && (
        <Facts
          rows={[
            ['Network', nameOf(kind.chain)],
            ['Contract', kind.to],
            ['Data', `${kind.data.slice(0, 42)}…`],
          ]}
        />
      )}
      {kind.is === 'allowance' && (
        <>
          <Facts
            rows={[
              ['Network', nameOf(kind.chain)],
              ['Spender', kind.spender],
            ]}
          />
          <label>
            It may take up to
            <span className="with-unit">
              <input
                inputMode="decimal"
                value={text}
                onChange={(event) => setText(event.target.value.trim())}
                aria-invalid={isWrong}
              />
              <span>{kind.token}</span>
            </span>
          </label>
        </>
      )}
      <footer>
        <button type="button" className="button" onClick={reject}>
          Reject
        </button>
        <button type="button" className="button main" onClick={approve} disabled={isWrong}>
          Approve
        </button>
      </footer>
    </dialog>
  );
}

const TITLES = {
  message: 'Sign this message?',
  allowance: 'Let a contract spend your tokens?',
  transaction: 'Send this transaction?',
} as const;

const nameOf = (chain: string) => (isEvmChain(chain) ? CHAINS[chain].name : chain);

function Facts({ rows }: { rows: readonly (readonly [string, string])[] }) {
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
