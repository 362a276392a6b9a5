import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { loadParts } from './load-parts.ts';
import { Skeleton } from './ui/elements.tsx';
import { ErrorNotice } from './ui/error-notice.tsx';

type Parts = Awaited<ReturnType<typeof loadParts>>;

/**
 * Returns a component that loads when it is first shown, and shows `fallback` until then. If it cannot be loaded, for example
 * because a new deployment has removed its file, it shows a message and "Try again" in its place, instead of throwing into the
 * host's page.
 */
function late<Props extends object>(
  pick: (parts: Parts) => ComponentType<Props>,
  fallback?: ReactNode,
): ComponentType<Props> {
  const load = () =>
    lazy(() =>
      loadParts().then(
        (parts) => ({ default: pick(parts) }),
        (error: unknown) => ({ default: failedPart(error) }),
      ),
    ) as unknown as ComponentType<Props>;
  const failedPart = (error: unknown) => {
    // React keeps the result of `lazy`, so a retry renders a new one. Parts that are shown afterwards use it too.
    let retried: { Part?: ComponentType<Props> } = {};
    return function FailedPart(props: Props) {
      const [{ Part }, setState] = useState(retried);
      const onRetry = () => {
        retried = { Part: load() };
        setState(retried);
      };
      return Part ? <Part {...props} /> : <ErrorNotice {...{ error, onRetry }} />;
    };
  };
  const Part = load();
  return function LatePart(props: Props) {
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
