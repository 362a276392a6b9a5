import { useState } from 'react';
import { useApp } from '../app-context.tsx';
import { clearCalls, type LoggedCall, toCurl, useCalls } from '../call-log.ts';
import { CloseIcon, CodeIcon, CopyIcon } from '../icons.tsx';

/** Lists the page's API calls, for developers building an app like this one. */
export function DeveloperDrawer() {
  const calls = useCalls();
  const [isOpen, setOpen] = useState(false);
  const [expandedId, setExpandedId] = useState<number | null>(null);
  if (!isOpen)
    return (
      <aside aria-label="For developers">
        <button
          type="button"
          className="drawer-button"
          onClick={() => setOpen(true)}
          aria-expanded={false}
          aria-label={`API calls: ${calls.length}`}
          title="API calls"
        >
          <CodeIcon size={16} /> <span className="label">API calls</span>{' '}
          <span className="count">{calls.length}</span>
        </button>
      </aside>
    );
  return (
    <section className="drawer" aria-label="API calls">
      <header>
        <h2>API calls</h2>
        <p>Sent by the SDK on this page. Tokens, signatures and personal data are redacted.</p>
        <button type="button" className="button small" onClick={clearCalls} disabled={calls.length === 0}>
          Clear
        </button>
        <button type="button" className="button icon small" aria-label="Close" onClick={() => setOpen(false)}>
          <CloseIcon />
        </button>
      </header>
      {calls.length === 0 ? (
        <p className="drawer-empty">No calls yet. Sign in or open an offer to see them here.</p>
      ) : (
        <ol>
          {calls.map((call) => (
            <CallRow
              key={call.id}
              call={call}
              isExpanded={expandedId === call.id}
              onToggle={() => setExpandedId(expandedId === call.id ? null : call.id)}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

type RowProps = { call: LoggedCall; isExpanded: boolean; onToggle(): void };

function CallRow({ call, isExpanded, onToggle }: RowProps) {
  const { method, path, status, milliseconds, attempt } = call;
  const tone = status >= 200 && status < 300 ? 'good' : status === 0 || status >= 500 ? 'bad' : 'warn';
  return (
    <li>
      <button type="button" className="call" aria-expanded={isExpanded} onClick={onToggle}>
        <span className="call-method">{method}</span>
        <span className="call-path">{path}</span>
        {attempt > 1 && <span className="call-attempt">attempt {attempt}</span>}
        <span className={`call-status ${tone}`}>{status === 0 ? 'no response' : status}</span>
        <span className="call-time">{Math.round(milliseconds)} ms</span>
      </button>
      {isExpanded && <CallDetails call={call} />}
    </li>
  );
}

function CallDetails({ call }: { call: LoggedCall }) {
  const { config } = useApp();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(toCurl(call, config.base_url));
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <div className="call-details">
      <div className="call-line">
        <time dateTime={call.at.toISOString()}>{call.at.toLocaleTimeString('en-GB')}</time>
        {call.requestId !== undefined && <span>request {call.requestId}</span>}
        <button type="button" className="button small" onClick={copy}>
          <CopyIcon size={14} /> {isCopied ? 'Copied' : 'Copy as curl'}
        </button>
      </div>
      {call.requestBody !== undefined && <Json title="Request" value={call.requestBody} />}
      {call.responseBody !== undefined && <Json title="Response" value={call.responseBody} />}
    </div>
  );
}

function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <figure>
      <figcaption>{title}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the text scrolls, also with the keyboard. */}
      <pre tabIndex={0}>{JSON.stringify(value, null, 2)}</pre>
    </figure>
  );
}
