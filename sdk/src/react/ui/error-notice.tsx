import { useContext } from 'react';
import { Context } from '../context.ts';
import { describeError, referenceOf } from './error-messages.ts';
import { useUi } from './ui.tsx';

/**
 * Shows what went wrong, what to do next and the support reference. Screen readers announce the notice immediately.
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
  retryLabel,
}: {
  error: unknown;
  onRetry?: (() => void) | undefined;
  retryLabel?: string | undefined;
}) {
  const { cx, t } = useUi();
  const signInUrl = useContext(Context)?.signInUrl;
  const { title, advice, needsSignIn } = describeError(error, t);
  const reference = referenceOf(error);
  return (
    <div className={cx('cw-notice cw-tone-bad')} role="alert">
      <p className={cx('cw-notice-title')}>{title}</p>
      {advice !== '' && <p>{advice}</p>}
      {reference !== undefined && (
        <p className="cw-reference">
          {t('Reference:')} <code>{reference}</code>
        </p>
      )}
      {needsSignIn && signInUrl !== undefined ? (
        <a className={cx('cw-button')} href={signInUrl}>
          {t('Sign in')}
        </a>
      ) : (
        onRetry !== undefined && (
          <button type="button" className={cx('cw-button')} onClick={() => onRetry()}>
            {retryLabel ?? t('Try again')}
          </button>
        )
      )}
    </div>
  );
}
