import { useEffect, useState } from 'react';
import type { DescribedStatus } from '../../requirements.ts';
import type { DocumentSubmission, NewDocumentSubmission } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import type { Message } from '../ui/messages.ts';
import { useUi } from '../ui/ui.tsx';
import { DocumentForm } from './document-form.tsx';
import type { StepGuide } from './use-guide.ts';

type Props = {
  documentType: 'tax_certification';
  status: DescribedStatus;
  guide: StepGuide;
  isNext: boolean;
  onProgress(): void;
};

/**
 * Asks the user for the details that the form needs, and submits them. The service then emails the user a link to sign
 * the form. Also lets the user resend the link, or start over if the form expired or was declined.
 */
export function DocumentStep({ documentType, status, guide, isNext, onProgress }: Props) {
  const { cx, t } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    if (guide.isStarting) setIsOpen(true);
  }, [guide.isStarting]);
  const { submit, submission, sent, isSending, error } = useSubmission(documentType, onProgress);
  const send = async (fields: NewDocumentSubmission) => {
    if (await submit(fields)) setIsOpen(false);
  };
  const isWaiting = status.status === 'in_progress';
  const action = actionLabel(status);
  const explanation = explain(status, submission);
  return (
    <div className="cw-requirement-step">
      <p className={cx('cw-small')} role="status">
        {explanation !== null && t(explanation)}
      </p>
      {!isOpen && action !== null && (
        <button
          type="button"
          className={cx(`cw-button ${isNext ? 'cw-button-main' : ''} ${isWaiting ? 'cw-button-quiet' : ''}`)}
          disabled={isSending}
          onClick={() => {
            if (isWaiting && sent !== undefined) return submit(sent);
            guide.onStart();
            setIsOpen(true);
          }}
        >
          {t(action)}
        </button>
      )}
      {isOpen && (
        <DocumentForm
          isSending={isSending}
          isResend={isWaiting}
          onSend={send}
          onCancel={() => {
            guide.onStop();
            setIsOpen(false);
          }}
        />
      )}
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
}

function useSubmission(documentType: 'tax_certification', onProgress: () => void) {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const [submission, setSubmission] = useState<DocumentSubmission>();
  const [sent, setSent] = useState<NewDocumentSubmission>();
  const [isSending, setIsSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (fields: NewDocumentSubmission): Promise<boolean> => {
    setIsSending(true);
    setError(null);
    try {
      setSubmission(await causeway.documents.submit(documentType, fields));
      setSent(fields);
      invalidate('requirementStatuses');
      onProgress();
      return true;
    } catch (failed) {
      setError(failed);
      return false;
    } finally {
      setIsSending(false);
    }
  };
  return { submit, submission, sent, isSending, error };
}

function actionLabel({ status }: DescribedStatus): Message | null {
  const labels: Partial<Record<DescribedStatus['status'], Message>> = {
    not_started: 'Fill in the form',
    in_progress: 'Resend form',
    action_needed: 'Renew form',
    rejected: 'Start a new form',
  };
  return labels[status] ?? null;
}

function explain({ status }: DescribedStatus, submission: DocumentSubmission | undefined): Message | null {
  switch (status) {
    case 'not_started':
      return submission === undefined
        ? 'Fill in your details here, then sign through the link we email you. If the link expires, you can get a new one.'
        : 'The link has expired. Fill in the form again to get a new one.';
    case 'in_progress':
      return "We emailed you a link to read and sign the form. Can't find it? Check your spam folder or resend it.";
    case 'action_needed':
      return 'Your form has expired, or your details have changed since you signed. Please sign a new one.';
    case 'rejected':
      return "You declined the form, or it doesn't apply to you. You can start a new one at any time.";
    case 'completed':
      return null;
  }
}
