import { useInvalidate } from '@causeway/sdk/react';
import { useId, useState } from 'react';
import { useControl } from './control.ts';

const LEVELS = [
  ['Sorting_KYC_Level', 'Who you are'],
  ['BasicKYCLevel', 'Identity'],
  ['AccreditationIndividual_FullVerification', 'Accreditation'],
] as const;

const DECISIONS = [
  ['Approve', { answer: 'GREEN' }],
  ['Ask again', { answer: 'RED', reject_type: 'RETRY' }],
  ['Reject', { answer: 'RED', reject_type: 'FINAL' }],
] as const;

/** Decides the user's identity reviews and signs their tax form, as the providers' staff and the user's mailbox would. */
export function Reviews() {
  const { isBusy, message, send } = useControl();
  const invalidate = useInvalidate();
  const [level, setLevel] = useState<string>(LEVELS[0][0]);
  const id = useId();
  const act = async (path: string, body: object, done: string) => {
    if (await send(path, body, done)) invalidate('requirementStatuses', 'eligibility');
  };
  return (
    <>
      <label htmlFor={id}>Review</label>
      <select id={id} className="select" value={level} onChange={(event) => setLevel(event.target.value)}>
        {LEVELS.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <div className="button-row">
        {DECISIONS.map(([name, decision]) => (
          <button
            type="button"
            className="button small"
            key={name}
            disabled={isBusy}
            onClick={() => act('identity/reviews', { level_name: level, ...decision }, `Decided: ${name}.`)}
          >
            {name}
          </button>
        ))}
      </div>
      <p>Tax form</p>
      <div className="button-row">
        {(['sign', 'decline', 'expire'] as const).map((action) => (
          <button
            type="button"
            className="button small"
            key={action}
            disabled={isBusy}
            onClick={() =>
              act(
                'documents/actions',
                { document_type: 'tax_certification', action },
                `Done: ${action} the form.`,
              )
            }
          >
            {`${action.charAt(0).toUpperCase()}${action.slice(1)} form`}
          </button>
        ))}
      </div>
      <p role="status" className="faucet-message">
        {message}
      </p>
    </>
  );
}
