import { useEffect, useRef, useState } from 'react';
import type { DescribedStatus } from '../../requirements.ts';
import type { KycLevel } from '../../wire.ts';
import { useCausewayContext } from '../context.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';

type IdentityType = 'identity_verification' | 'kyc_approved' | 'accreditation' | 'jurisdiction';

const LEVELS: Record<IdentityType, KycLevel> = {
  identity_verification: 'Sorting_KYC_Level',
  kyc_approved: 'BasicKYCLevel',
  accreditation: 'AccreditationIndividual_FullVerification',
  jurisdiction: 'Sorting_KYC_Level',
};

type Props = { type: IdentityType; status: DescribedStatus; isNext: boolean; onMoved(): void };

/** Says where the verification stands and opens the identity provider's flow. */
export function IdentityStep({ type, status, isNext, onMoved }: Props) {
  const { open, isOpen, error } = useIdentity(type, status, onMoved);
  const words = wordsOf(type, status);
  const label = labelOf(status);
  return (
    <div className="cw-requirement-step">
      {words !== '' && <p className="cw-small">{words}</p>}
      {label !== null && (
        <button
          type="button"
          className={`cw-button ${isNext ? 'cw-button-main' : ''}`}
          disabled={isOpen}
          onClick={open}
        >
          {isOpen ? 'Opening…' : label}
        </button>
      )}
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
}

function useIdentity(type: IdentityType, { kyc_level, kyc_reset }: DescribedStatus, onMoved: () => void) {
  const { client, identity } = useCausewayContext();
  const [isOpen, setIsOpen] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
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
      // A renewed token must not start the applicant over in the middle of the flow.
      const refreshToken = async () => (await client.kyc.token({ level_name: level }, { signal })).token;
      await identity.open(token, { level, refreshToken, signal });
    } catch (failed) {
      if (!signal.aborted) setError(failed);
    } finally {
      if (!signal.aborted) {
        setIsOpen(false);
        onMoved();
      }
    }
  };
  return { open, isOpen, error };
}

function labelOf({ status, kyc_reset }: DescribedStatus): string | null {
  if (status === 'not_started') return 'Start';
  if (status !== 'action_needed') return null;
  return kyc_reset ? 'Verify again' : 'Continue';
}

function wordsOf(type: IdentityType, { status, action, kyc_reset }: DescribedStatus): string {
  const isPlace = type === 'jurisdiction';
  switch (status) {
    case 'not_started':
      return '';
    case 'completed':
      return '';
    case 'in_progress':
      return 'We are checking what you sent. This usually takes a few minutes; you can close this page.';
    case 'rejected':
      return isPlace
        ? 'Your address is in a place where this offer is not available.'
        : 'You could not be verified, and this decision is final. Write to support if you disagree.';
    case 'action_needed':
      if (action === 'update_pii_data')
        return 'Some of your details are missing or out of date. Please verify them again.';
      if (isPlace) return 'We do not know your address yet. Your identity verification tells us.';
      return kyc_reset
        ? 'Your last verification is too old for this offer. Please verify yourself again.'
        : 'Something is missing from your verification. Continue to see what.';
  }
}
