import { useState } from 'react';
import type { DescribedStatus } from '../../requirements.ts';
import type { DocumentSubmission, NewDocumentSubmission } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { DocumentForm } from './document-form.tsx';

type Props = {
  documentType: 'tax_certification';
  status: DescribedStatus;
  isNext: boolean;
  onMoved(): void;
};

/** Fills the form in, has it sent by mail, sends it again, and starts over where that is needed. */
export function DocumentStep({ documentType, status, isNext, onMoved }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const { submit, submission, sent, isSending, error } = useSubmission(documentType, onMoved);
  const send = async (fields: NewDocumentSubmission) => {
    if (await submit(fields)) setIsOpen(false);
  };
  const isWaiting = status.status === 'in_progress';
  const label = labelOf(status);
  return (
    <div className="cw-requirement-step">
      <p className="cw-small" role="status">
        {wordsOf(status, submission)}
      </p>
      {!isOpen && label !== null && (
        <button
          type="button"
          className={`cw-button ${isNext ? 'cw-button-main' : ''} ${isWaiting ? 'cw-button-quiet' : ''}`}
          disabled={isSending}
          onClick={() => (isWaiting && sent !== undefined ? submit(sent) : setIsOpen(true))}
        >
          {label}
        </button>
      )}
      {isOpen && (
        <DocumentForm
          isSending={isSending}
          isResend={isWaiting}
          onSend={send}
          onCancel={() => setIsOpen(false)}
        />
      )}
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
}

function useSubmission(documentType: 'tax_certification', onMoved: () => void) {
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
      onMoved();
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

function labelOf({ status }: DescribedStatus): string | null {
  const labels: Partial<Record<DescribedStatus['status'], string>> = {
    not_started: 'Fill in the form',
    in_progress: 'Send it again',
    action_needed: 'Renew the form',
    rejected: 'Start a new form',
  };
  return labels[status] ?? null;
}

function wordsOf({ status, action }: DescribedStatus, submission: DocumentSubmission | undefined): string {
  switch (status) {
    case 'not_started':
      return submission === undefined
        ? 'You fill it in here and sign it by a link that we send you. A link that has expired is replaced by a new one.'
        : 'The link has expired. Fill in the form again for a new one.';
    case 'in_progress':
      return 'We sent the link by mail. Open it to read and sign the form. Nothing there? Look in your spam folder, or have it sent again.';
    case 'action_needed':
      return action === 'update_pii_data'
        ? 'Your details have changed since you signed, so a new form is needed.'
        : 'Your form is no longer valid, so a new one is needed.';
    case 'rejected':
      return 'You declined the form. You can start a new one at any time.';
    case 'completed':
      return '';
  }
}
