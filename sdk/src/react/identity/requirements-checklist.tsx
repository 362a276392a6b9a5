import { useEffect, useId } from 'react';
import type { OfferDetails } from '../../wire.ts';
import { describePlaces } from '../checkout/deployments.ts';
import { type RequirementRow, useRequirementRows } from '../hooks/use-requirement-rows.ts';
import { Loading, Skeleton, StatusBadge } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { REQUIREMENTS, STATUSES } from '../ui/labels.ts';
import { WalletStep } from '../wallets/wallet-step.tsx';
import { DocumentStep } from './document-step.tsx';
import { IdentityStep } from './identity-step.tsx';

export type RequirementsChecklistProps = {
  offer: OfferDetails;
  optionId: string;
  /** Told when all of it is done; at once if it is. */
  onCompleted?: (() => void) | undefined;
};

/**
 * What an option asks of the user, how far each point is, and the one thing to do next: identity, documents and
 * wallets are walked through to the end without leaving the page.
 *
 * @example
 * ```tsx
 * import { RequirementsChecklist, useOffer } from '@causeway/sdk/react';
 *
 * function Checklist() {
 *   const { data: offer } = useOffer('harbour-quarter');
 *   const option = offer?.options[0];
 *   return offer && option ? <RequirementsChecklist offer={offer} optionId={option.id} /> : null;
 * }
 * ```
 */
export function RequirementsChecklist({ offer, optionId, onCompleted }: RequirementsChecklistProps) {
  const { rows, error, done, isAllDone, expectChange, refresh } = useRequirementRows(offer.id, optionId);
  useEffect(() => {
    if (isAllDone) onCompleted?.();
  }, [isAllDone]);
  const registered = rows?.find(({ requirement }) => requirement.type === 'whitelisted_wallet');
  const isBlocked = rows?.some(isFinal) ?? false;
  const first = rows?.find(({ status }) => ['not_started', 'action_needed'].includes(status.status));
  return (
    <section className="cw cw-card cw-checklist" aria-busy={rows === undefined}>
      <Head total={rows?.length} done={done} isBlocked={isBlocked} />
      {rows === undefined && error !== undefined && <ErrorNotice error={error} onRetry={refresh} />}
      {rows === undefined && error === undefined && <ChecklistSkeleton />}
      <ol className="cw-list">
        {rows?.map((row) => (
          <Row
            key={row.requirement.id}
            {...{ offer, optionId, row, expectChange }}
            accumulates={registered !== undefined}
            isNext={row === first && !isBlocked}
          />
        ))}
      </ol>
    </section>
  );
}

/** A declined form can be started anew; the other refusals stand. */
function isFinal({ requirement, status }: RequirementRow): boolean {
  return status.status === 'rejected' && requirement.type !== 'document';
}

function Head({ total, done, isBlocked }: { total: number | undefined; done: number; isBlocked: boolean }) {
  const titleId = useId();
  const words = progressWords(total, done, isBlocked);
  return (
    <div className="cw-checklist-head">
      <h2 className="cw-title" id={titleId}>
        Before you invest
      </h2>
      <p className={isBlocked || done === total ? 'cw-strong' : 'cw-muted'} role="status">
        {words}
      </p>
      {total !== 0 && <progress className="cw-bar" max={total ?? 1} value={done} aria-labelledby={titleId} />}
    </div>
  );
}

function progressWords(total: number | undefined, done: number, isBlocked: boolean): string {
  if (total === undefined) return '\u00a0';
  if (total === 0) return 'Nothing is asked of you for this option.';
  if (isBlocked) return 'You cannot take part in this option.';
  return done === total ? 'All done. You can invest now.' : `${done} of ${total} done`;
}

type RowProps = {
  offer: OfferDetails;
  optionId: string;
  row: RequirementRow;
  isNext: boolean;
  /** Wallets of this option are registered beside each other rather than replaced. */
  accumulates: boolean;
  expectChange(): void;
};

function Row(props: RowProps) {
  const { requirement, status } = props.row;
  const [name, why] = REQUIREMENTS[requirement.type];
  const [tone, words] = STATUSES[status.status];
  return (
    <li className="cw-requirement" data-requirement={requirement.type} data-status={status.status}>
      <div className="cw-requirement-line">
        <div className="cw-grow">
          <p className="cw-strong">{name}</p>
          <p className="cw-muted cw-small">
            {requirement.type === 'jurisdiction' ? describePlaces(requirement.details) : why}
          </p>
        </div>
        <StatusBadge tone={tone}>{words}</StatusBadge>
      </div>
      <Step {...props} />
    </li>
  );
}

function Step(props: RowProps) {
  const { offer, optionId, isNext, accumulates, expectChange } = props;
  const { requirement, status } = props.row;
  const shared = { status, isNext, onMoved: expectChange };
  switch (requirement.type) {
    case 'identity_verification':
    case 'kyc_approved':
    case 'accreditation':
    case 'jurisdiction':
      return <IdentityStep type={requirement.type} {...shared} />;
    case 'document':
      return <DocumentStep documentType={requirement.details.document_type} {...shared} />;
    case 'external_wallet':
      return (
        <WalletStep
          {...{ offer, optionId, ...shared }}
          protocol={requirement.details.protocol}
          maximum={accumulates ? 0 : 1}
        />
      );
    case 'whitelisted_wallet':
      return (
        <WalletStep
          {...{ offer, optionId, ...shared }}
          protocol="ethereum"
          maximum={requirement.details.max_wallets}
        />
      );
  }
}

function ChecklistSkeleton() {
  return (
    <>
      <Loading what="what this offer asks for" />
      <ul className="cw-list" aria-hidden="true">
        {['a', 'b', 'c'].map((key) => (
          <li key={key} className="cw-requirement">
            <Skeleton height="4.4em" />
          </li>
        ))}
      </ul>
    </>
  );
}
