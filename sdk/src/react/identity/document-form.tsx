import { type FormEvent, useEffect, useId, useRef } from 'react';
import type { NewDocumentSubmission, UserPii } from '../../wire.ts';
import { usePii } from '../hooks/use-user.ts';
import { Loading, Skeleton } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';

type Field = { name: string; label: string; type?: 'date'; autoComplete?: string; isWide?: boolean };

/** Names as the signing provider knows them. */
const FIELDS: readonly Field[] = [
  { name: 'Full Name', label: 'Full legal name', autoComplete: 'name', isWide: true },
  { name: 'Country Of Citizenship', label: 'Country of citizenship' },
  { name: 'DOB', label: 'Date of birth', type: 'date', autoComplete: 'bday' },
  { name: 'Permanent Address', label: 'Permanent address', autoComplete: 'street-address', isWide: true },
  { name: 'City', label: 'City, state and postal code' },
  { name: 'Country', label: 'Country', autoComplete: 'country-name' },
  { name: 'Foreign Tax Number', label: 'Tax number of your country' },
  { name: 'Date', label: 'Date', type: 'date' },
  { name: 'Signature', label: 'Signature (type your name)', isWide: true },
];
/** What a company has no use for. */
const OF_PERSONS = new Set(['DOB', 'Country Of Citizenship']);

type Props = {
  isSending: boolean;
  isResend: boolean;
  onSend(fields: NewDocumentSubmission): void;
  onCancel(): void;
};

/** The tax form, filled with what is known of the user. What is typed goes to the signing provider and stays there. */
export function DocumentForm({ isSending, isResend, onSend, onCancel }: Props) {
  const { data: pii, error, refresh } = usePii();
  if (pii === undefined && error !== undefined) return <ErrorNotice error={error} onRetry={refresh} />;
  if (pii === undefined)
    return (
      <div className="cw-form">
        <Loading what="your details" />
        <Skeleton height="24em" />
      </div>
    );
  return <FilledForm {...{ pii, isSending, isResend, onSend, onCancel }} />;
}

function FilledForm({ pii, isSending, isResend, onSend, onCancel }: Props & { pii: UserPii }) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const known = fieldsOf(pii, new Date());
  const fields = FIELDS.filter(({ name }) => pii.kind === 'person' || !OF_PERSONS.has(name));
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    onSend(Object.fromEntries(fields.map(({ name }) => [name, String(typed.get(name) ?? '').trim()])));
  };
  return (
    <form className="cw-form" ref={form} onSubmit={send}>
      <div className="cw-fields">
        {fields.map(({ name, label, type, autoComplete, isWide }) => (
          <div key={name} className={`cw-field ${isWide ? 'cw-field-wide' : ''}`}>
            <label htmlFor={`${id}${name}`}>{label}</label>
            <input
              id={`${id}${name}`}
              name={name}
              className="cw-input"
              type={type ?? 'text'}
              autoComplete={autoComplete ?? 'off'}
              defaultValue={known[name] ?? ''}
              required
            />
          </div>
        ))}
      </div>
      <p className="cw-muted cw-small">
        You sign the form itself on the page that we send you by mail. What you type here is passed on to it
        and not kept.
      </p>
      <div className="cw-row cw-wrap">
        <button type="submit" className="cw-button cw-button-main" disabled={isSending}>
          {isSending ? 'Sending…' : isResend ? 'Send it again' : 'Send me the form'}
        </button>
        <button type="button" className="cw-button cw-button-quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** What is known of the user in the form's own fields. */
export function fieldsOf(pii: UserPii, today: Date): Record<string, string> {
  const { street, city, state, postal_code } = pii.permanent_address;
  const join = (...parts: readonly (string | null)[]) => parts.filter((part) => part).join(', ');
  const country = pii.jurisdiction?.name ?? pii.permanent_address.country ?? '';
  const two = (value: number) => String(value).padStart(2, '0');
  return {
    'Full Name': pii.full_legal_name ?? '',
    'Country Of Citizenship': country,
    DOB: pii.date_of_birth ?? '',
    'Permanent Address': street ?? '',
    City: join(city, state, postal_code),
    Country: country,
    'Foreign Tax Number': pii.tax_id ?? '',
    Date: `${today.getFullYear()}-${two(today.getMonth() + 1)}-${two(today.getDate())}`,
    Signature: pii.full_legal_name ?? '',
  };
}
