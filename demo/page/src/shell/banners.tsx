import { useInvalidate } from '@causeway/sdk/react';
import { useEffect, useState } from 'react';
import { useApp } from '../app-context.tsx';
import { checkNow, useReach } from '../reachability.ts';
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
          Money, identity checks, signatures, market and mail are simulated on this machine.
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

/** Shown while the service does not answer; what is on screen is asked again when it does. */
export function OfflineBanner() {
  const { isReachable, returns } = useReach();
  const [isAsking, setAsking] = useState(false);
  const invalidate = useInvalidate();
  useEffect(() => {
    if (returns === 0) return;
    invalidate(
      'offers',
      'offer',
      'requirements',
      'requirementStatuses',
      'connectedWallets',
      'participations',
    );
    invalidate(
      'participation',
      'pii',
      'tokenBalance',
      'tokenAllowance',
      'swapStatus',
      'tradingStatus',
      'quote',
    );
  }, [returns, invalidate]);
  const retry = async () => {
    setAsking(true);
    await checkNow();
    setAsking(false);
  };
  return (
    <div role="alert" className="offline">
      {!isReachable && (
        <div className="offline-banner">
          <p>
            <strong>Causeway cannot be reached.</strong> Nothing is lost: this page goes on by itself as soon
            as it answers.
          </p>
          <button type="button" className="button" onClick={retry} disabled={isAsking}>
            Try now
          </button>
        </div>
      )}
    </div>
  );
}
