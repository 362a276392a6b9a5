import { type Resource, useInvalidate } from '@causeway/sdk/react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useApp } from '../app-context.tsx';
import { MailIcon } from '../icons.tsx';
import { checkNow, useReachability } from '../reachability.ts';
import { usePolledMail, useUnreadCount } from '../sandbox/emails.ts';
import { openPanel, useIsPanelOpen } from '../sandbox/panel-state.ts';

const SandboxPanel = lazy(async () => ({ default: (await import('../sandbox/panel.tsx')).SandboxPanel }));

export function SandboxBanner() {
  const { config } = useApp();
  return config.is_sandbox ? <Banner /> : null;
}

function Banner() {
  usePolledMail();
  const unread = useUnreadCount();
  const isOpen = useIsPanelOpen();
  return (
    <>
      <section className="sandbox-banner" aria-label="About this sandbox">
        <p>
          <strong>Sandbox</strong>
          <span className="wide">
            {' '}
            Money, identity checks, signatures, markets and email are simulated on this machine.
          </span>
          <span className="narrow"> All simulated</span>
        </p>
        <button type="button" className="sandbox-open" aria-expanded={isOpen} onClick={openPanel}>
          <MailIcon size={16} /> Mail and tools
          {unread > 0 && (
            <span className="badge-count">
              {unread}
              <span className="visually-hidden"> unread</span>
            </span>
          )}
        </button>
      </section>
      {isOpen && (
        <Suspense>
          <SandboxPanel />
        </Suspense>
      )}
    </>
  );
}

/** The resources to reload after an outage. The type check fails unless all resources are listed. */
const RELOADED = Object.keys({
  ...{ offers: 1, offer: 1, eligibility: 1, requirements: 1, requirementStatuses: 1, connectedWallets: 1 },
  ...{ participations: 1, participation: 1, pii: 1, tokenBalance: 1, tokenAllowance: 1, swapPreview: 1 },
  ...{ swapOutputToken: 1, swapStatus: 1, walletAuthorization: 1, tokenizedOrders: 1, tradingStatus: 1 },
  ...{ market: 1, quote: 1 },
} satisfies Record<Resource, 1>) as Resource[];

/** Shows that the service is unreachable, and reloads the data on screen when the service is back. */
export function OfflineBanner() {
  const { isReachable, recoveries } = useReachability();
  const [isChecking, setChecking] = useState(false);
  const invalidate = useInvalidate();
  useEffect(() => {
    if (recoveries === 0) return;
    invalidate(...RELOADED);
  }, [recoveries, invalidate]);
  const retry = async () => {
    setChecking(true);
    await checkNow();
    setChecking(false);
  };
  return (
    <div role="alert" className="offline">
      {!isReachable && (
        <div className="offline-banner">
          <p>
            <strong>We can't reach Causeway.</strong> Nothing is lost. We'll reconnect automatically.
          </p>
          <button type="button" className="button" onClick={retry} disabled={isChecking}>
            Retry now
          </button>
        </div>
      )}
    </div>
  );
}
