import { useEffect, useRef, useState } from 'react';
import type { DescribedStatus } from '../../requirements.ts';
import type { KycLevel } from '../../wire.ts';
import { useCausewayContext } from '../context.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import type { Message } from '../ui/messages.ts';
import { useUi } from '../ui/ui.tsx';
import type { StepGuide } from './use-guide.ts';

type IdentityType = 'identity_verification' | 'kyc_approved' | 'accreditation' | 'jurisdiction';

const LEVELS: Record<IdentityType, KycLevel> = {
  identity_verification: 'Sorting_KYC_Level',
  kyc_approved: 'BasicKYCLevel',
  accreditation: 'AccreditationIndividual_FullVerification',
  jurisdiction: 'Sorting_KYC_Level',
};

type Props = {
  type: IdentityType;
  status: DescribedStatus;
  guide?: StepGuide | undefined;
  isNext: boolean;
  onProgress(): void;
};

/** Explains the state of the verification and opens the identity provider's flow. */
export function IdentityStep({ type, status, guide, isNext, onProgress }: Props) {
  const { cx, t } = useUi();
  const { start, isOpen, error } = useIdentity(type, status, guide, onProgress);
  const text = explain(type, status);
  const action = actionLabel(status);
  return (
    <div className="cw-requirement-step">
      {text !== null && <p className={cx('cw-small')}>{t(text)}</p>}
      {action !== null && (
        <button
          type="button"
          className={cx(`cw-button ${isNext ? 'cw-button-main' : ''}`)}
          disabled={isOpen}
          onClick={start}
        >
          {t(isOpen ? 'Opening…' : action)}
        </button>
      )}
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
}

function useIdentity(
  type: IdentityType,
  described: DescribedStatus,
  guide: StepGuide | undefined,
  onProgress: () => void,
) {
  const { status, kyc_level, kyc_reset } = described;
  const { t } = useUi();
  const { client, identity, appearance } = useCausewayContext();
  const [isOpen, setIsOpen] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  // Closes the dialog once the provider has reported the user's submission, because nothing is left to do in the
  // dialog.
  const isSent = status === 'in_progress' || status === 'completed' || status === 'rejected';
  useEffect(() => {
    if (!isSent) return;
    running.current?.abort();
    setIsOpen(false);
  }, [isSent]);
  const open = async () => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setIsOpen(true);
    setError(null);
    const level = kyc_level ?? LEVELS[type];
    try {
      const reset = kyc_reset ?? false;
      const { token } = await client.kyc.token({ level_name: level, reset }, { signal });
      // Does not pass `reset`: renewing the token must not reset the applicant in the middle of the flow.
      const refreshToken = async () => (await client.kyc.token({ level_name: level }, { signal })).token;
      const dialog = { title: t('Identity verification'), close: t('Close'), appearance };
      await identity.open(token, { level, refreshToken, signal, dialog });
    } catch (failed) {
      if (!signal.aborted) setError(failed);
    } finally {
      if (!signal.aborted) {
        setIsOpen(false);
        guide?.onStop();
        onProgress();
      }
    }
  };
  useEffect(() => {
    if (guide?.isStarting) void open();
  }, [guide?.isStarting]);
  const start = () => {
    guide?.onStart();
    void open();
  };
  return { start, isOpen, error };
}

function actionLabel({ status, kyc_reset }: DescribedStatus): Message | null {
  if (status === 'not_started') return 'Start verification';
  if (status !== 'action_needed') return null;
  return kyc_reset ? 'Verify again' : 'Continue';
}

function explain(type: IdentityType, { status, action, kyc_reset }: DescribedStatus): Message | null {
  const isJurisdiction = type === 'jurisdiction';
  switch (status) {
    case 'not_started':
    case 'completed':
      return null;
    case 'in_progress':
      return "We're reviewing your details. This usually takes a few minutes, and you can close this page.";
    case 'rejected':
      return isJurisdiction
        ? "This offer isn't available where you live, or we couldn't verify you."
        : "We couldn't verify you, and this decision is final. Contact support if you disagree.";
    case 'action_needed':
      if (action === 'update_pii_data')
        return 'Some of your details are missing or out of date. Please verify them again.';
      if (isJurisdiction)
        return 'We need your full address with state or region. Verify your identity to add it.';
      return kyc_reset
        ? 'Your last verification is too old for this offer, or was in another name. Please verify again.'
        : "Your verification is incomplete. Continue to see what's missing.";
  }
}
