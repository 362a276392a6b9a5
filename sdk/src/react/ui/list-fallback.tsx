import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';

type ListState = {
  items: readonly unknown[] | undefined;
  error: unknown;
  onRetry: () => void;
  empty: ReactNode;
};

/** Returns what to show instead of a list that failed to load or is empty, or null if the list can be shown. */
export function listFallback({ items, error, onRetry, empty }: ListState): ReactNode {
  if (items === undefined && error !== undefined)
    return (
      <div className="cw">
        <ErrorNotice error={error} onRetry={onRetry} />
      </div>
    );
  return items?.length === 0 ? <div className="cw">{empty}</div> : null;
}
