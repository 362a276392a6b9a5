import { useContext } from 'react';
import { Context } from '../context.ts';
import { describeError, referenceOf } from './error-messages.ts';

/**
 * Shows what went wrong, what to do next and the support reference; announced to screen readers.
 *
 * @example
 * ```tsx
 * import { ErrorNotice, useOffers } from '@causeway/sdk/react';
 *
 * function Offers() {
 *   const { error, refresh } = useOffers();
 *   return error ? <ErrorNotice error={error} onRetry={refresh} /> : null;
 * }
 * ```
 */
export function ErrorNotice({
  error,
  onRetry,
  retryLabel = 'Try again',
}: {
  error: unknown;
  onRetry?: (() => void) | undefined;
  retryLabel?: string | undefined;
}) {
  const signInUrl = useContext(Context)?.signInUrl;
  const { title, advice, needsSignIn } = describeError(error);
  const reference = referenceOf(error);
  return (
    <div className="cw-notice cw-tone-bad" role="alert">
      <p className="cw-notice-title">{title}</p>
      {advice !== '' && <p>{advice}</p>}
      {reference !== undefined && (
        <p className="cw-reference">
          Reference: <code>{reference}</code>
        </p>
      )}
      {needsSignIn && signInUrl !== undefined ? (
        <a className="cw-button" href={signInUrl}>
          Sign in
        </a>
      ) : (
        onRetry !== undefined && (
          <button type="button" className="cw-button" onClick={() => onRetry()}>
            {retryLabel}
          </button>
        )
      )}
    </div>
  );
}
