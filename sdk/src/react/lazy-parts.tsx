import { type ComponentType, lazy, type ReactNode, Suspense, useSyncExternalStore } from 'react';
import { loadParts } from './load-parts.ts';
import { Skeleton } from './ui/elements.tsx';
import { ErrorNotice } from './ui/error-notice.tsx';

type Parts = Awaited<ReturnType<typeof loadParts>>;

/**
 * Functions that load the failed parts again, one per part. All parts are in one file, so a retry calls all these
 * functions.
 */
const reloads = new Set<() => void>();
const subscribers = new Set<() => void>();
const subscribe = (notify: () => void) => {
  subscribers.add(notify);
  return () => subscribers.delete(notify);
};
const retry = () => {
  for (const reload of reloads) reload();
  reloads.clear();
  for (const notify of subscribers) notify();
};

/**
 * Returns a component that loads a part when it is first shown. Until the part has loaded, the component shows
 * `fallback`. If loading fails, the component shows an error message with a "Try again" button instead of throwing into
 * the host's page. Loading fails, for example, if a new deployment has removed the file.
 */
function late<Props extends object>(
  pick: (parts: Parts) => ComponentType<Props>,
  fallback?: ReactNode,
): ComponentType<Props> {
  // React caches the result of `lazy`, so a retry needs a new lazy component.
  const load = () =>
    lazy(() =>
      loadParts().then(
        (parts) => ({ default: pick(parts) }),
        (error: unknown) => {
          reloads.add(() => {
            part = load();
          });
          return { default: () => <ErrorNotice {...{ error, onRetry: retry }} /> };
        },
      ),
    ) as unknown as ComponentType<Props>;
  let part = load();
  const getPart = () => part;
  return function LatePart(props: Props) {
    const Part = useSyncExternalStore(subscribe, getPart, getPart);
    return (
      <Suspense fallback={fallback}>
        <Part {...props} />
      </Suspense>
    );
  };
}

const STEP = <Skeleton height="2.75em" />;

export const AllowWalletPanel = late((parts) => parts.AllowWalletPanel, STEP);
export const IdentityStep = late((parts) => parts.IdentityStep, STEP);
export const LivePriceNote = late((parts) => parts.LivePriceNote);
export const OpenApprovalNotice = late((parts) => parts.OpenApprovalNotice);
export const RequirementStep = late((parts) => parts.RequirementStep, STEP);
export const ReviewSheet = late((parts) => parts.ReviewSheet);
export const SaleDone = late((parts) => parts.SaleDone);
export const SwapDone = late((parts) => parts.SwapDone);
export const UnfinishedSaleNotice = late((parts) => parts.UnfinishedSaleNotice);
export const UnregisteredWalletNotice = late((parts) => parts.UnregisteredWalletNotice);
