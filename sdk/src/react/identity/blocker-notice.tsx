import type { Check, KycLevel } from '../../wire.ts';
import { useCausewayContext } from '../context.ts';
import { IdentityStep } from '../lazy-parts.tsx';
import { useUi } from '../ui/ui.tsx';
import { isFinal } from './blockers.ts';

/** Explains what stops the user from investing. Offers the identity step or a support link if that can help. */
export function BlockerNotice({ blockers, onProgress }: { blockers: readonly Check[]; onProgress(): void }) {
  const { cx, t, check } = useUi();
  const { supportUrl } = useCausewayContext();
  if (blockers.length === 0) return null;
  const isRejected = isFinal(blockers);
  const needsContact = blockers.some(({ next }) => next?.type === 'contact');
  const identity = isRejected ? undefined : blockers.find(({ next }) => next?.type === 'identity');
  return (
    <div
      className={cx(`cw-notice cw-tone-${isRejected ? 'bad' : 'attention'}`)}
      role="status"
      data-blockers=""
    >
      <p className={cx('cw-notice-title')}>
        {t(isRejected ? "Why you can't invest" : 'Before you can invest')}
      </p>
      {[...new Set(blockers.map(({ code, message }) => check(code, message)))].map((message) => (
        <p key={message}>{message}</p>
      ))}
      {needsContact && supportUrl !== undefined && (
        <a className={cx('cw-button')} href={supportUrl}>
          {t('Contact support')}
        </a>
      )}
      {identity !== undefined && (
        <IdentityStep type="jurisdiction" status={statusOf(identity)} isNext onProgress={onProgress} />
      )}
    </div>
  );
}

function statusOf({ next }: Check) {
  const { level_name, reset } = (next?.body ?? {}) as { level_name?: KycLevel; reset?: boolean };
  return {
    ...{ status: 'action_needed' as const, action: 'update_pii_data' as const },
    ...{ kyc_level: level_name, kyc_reset: reset },
  };
}
