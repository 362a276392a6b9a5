import { type Resource, useInvalidate } from '@causeway/sdk/react';
import { useEffect, useState } from 'react';
import { useApp } from '../app-context.tsx';
import { checkNow, useReachability } from '../reachability.ts';
import { Link } from '../route.tsx';

export function SandboxBanner() {
  const { config } = useApp();
  if (!config.is_sandbox) return null;
  return (
    <div className="sandbox-banner">
      <p>
        <strong>Sandbox</strong>
        <span className="wide">
          {' '}
          Money, identity checks, signatures, markets and email are simulated on this machine.
        </span>
        <span className="narrow"> All simulated</span>
      </p>
      <nav aria-label="Sandbox">
        <Link to="/mail">Mail</Link>
        <Link to="/tools">Tools</Link>
        {config.docs_url !== null && (
          <a href={config.docs_url} target="_blank" rel="noreferrer">
            API
          </a>
        )}
      </nav>
    </div>
  );
}

const RELOADED: readonly Resource[] = [
  ...(['offers', 'offer', 'requirements', 'requirementStatuses', 'connectedWallets'] as const),
  ...(['participations', 'participation', 'pii', 'tokenBalance', 'tokenAllowance'] as const),
  ...(['swapStatus', 'tradingStatus', 'quote'] as const),
];

/** Shows that the service is unreachable, and reloads the data on screen once the service is back. */
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
