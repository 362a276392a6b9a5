import { useEffect, useId } from 'react';
import type { OfferDetails } from '../../wire.ts';
import type { BlockProps } from '../ui/class-names.ts';
import { Loading, Skeleton, StatusBadge } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { REQUIREMENT_LABELS, STATUS_LABELS } from '../ui/labels.ts';
import { type Translate, useUi } from '../ui/ui.tsx';
import { WalletStep } from '../wallets/wallet-step.tsx';
import { BlockerNotice } from './blocker-notice.tsx';
import { isFinal } from './blockers.ts';
import { DocumentStep } from './document-step.tsx';
import { IdentityStep } from './identity-step.tsx';
import { describeJurisdiction } from './jurisdiction.ts';
import { useBlockers } from './use-blockers.ts';
import { type RequirementRow, useRequirementRows } from './use-requirement-rows.ts';

export type RequirementsChecklistProps = BlockProps & {
  offer: OfferDetails;
  optionId: string;
  /** Called when every requirement is met; immediately if all are already met. */
  onCompleted?: (() => void) | undefined;
};

/**
 * Shows what stops the user from investing, then lists the requirements of an option with their status and the next
 * step. The user completes identity checks, documents and wallets without leaving the page. Steps that the service
 * would refuse are not offered.
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
export function RequirementsChecklist(props: RequirementsChecklistProps) {
  const { cx } = useUi();
  const { offer, optionId, onCompleted, className } = props;
  const { rows, error, done, isAllDone, expectChange, refresh } = useRequirementRows(offer.id, optionId);
  const { blockers, isLoading } = useBlockers(offer.id, optionId);
  const canInvest = isAllDone && !isLoading && blockers.length === 0;
  useEffect(() => {
    if (canInvest) onCompleted?.();
  }, [canInvest]);
  const registersWallets =
    rows?.some(({ requirement }) => requirement.type === 'whitelisted_wallet') ?? false;
  const isBlocked = isFinal(blockers);
  // Each rejected requirement shows its reason below. The notice therefore shows the blockers without a
  // requirement or, if there are none, only the first blocker.
  const general = blockers.filter(({ requirement_id }) => requirement_id === null);
  const shown = general.length > 0 ? general : blockers.slice(0, 1);
  const sorted = rows?.toSorted((a, b) => rank(a) - rank(b));
  const next = rows?.find(({ status }) => ['not_started', 'action_needed'].includes(status.status));
  return (
    <section className={cx('cw cw-card cw-checklist', className)} aria-busy={rows === undefined}>
      <Head total={rows?.length} done={done} {...{ isBlocked, canInvest }} />
      {rows === undefined && error !== undefined && <ErrorNotice error={error} onRetry={refresh} />}
      {rows === undefined && error === undefined && <ChecklistSkeleton />}
      {rows !== undefined && shown.length > 0 && (
        <div className="cw-checklist-blockers">
          <BlockerNotice blockers={shown} onProgress={expectChange} />
        </div>
      )}
      <ol className={cx('cw-list')}>
        {sorted?.map((row) => (
          <Row
            key={row.requirement.id}
            {...{ offer, optionId, row, expectChange, isBlocked }}
            registersWallets={registersWallets}
            isNext={row === next}
          />
        ))}
      </ol>
    </section>
  );
}

/**
 * Returns true for a rejected step that shows only its reason. A rejected document offers an action instead.
 */
function isExplained({ requirement, status }: RequirementRow): boolean {
  return status.status === 'rejected' && requirement.type !== 'document';
}

/** Rejections come first; the others keep their order. */
function rank({ status }: RequirementRow): number {
  return status.status === 'rejected' ? 0 : 1;
}

type HeadProps = { total: number | undefined; done: number; isBlocked: boolean; canInvest: boolean };

function Head({ total, done, isBlocked, canInvest }: HeadProps) {
  const { cx, t } = useUi();
  const titleId = useId();
  return (
    <div className="cw-checklist-head">
      <h2 className={cx('cw-title')} id={titleId}>
        {t('Before you invest')}
      </h2>
      <p className={isBlocked || done === total ? 'cw-strong' : 'cw-muted'} role="status">
        {progressText({ total, done, isBlocked, canInvest }, t)}
      </p>
      {total !== 0 && (
        <progress className={cx('cw-bar')} max={total ?? 1} value={done} aria-labelledby={titleId} />
      )}
    </div>
  );
}

function progressText({ total, done, isBlocked, canInvest }: HeadProps, t: Translate): string {
  if (total === undefined) return '\u00a0';
  if (isBlocked) return t("You can't invest in this option.");
  if (canInvest)
    return t(total === 0 ? 'No checks needed. You can invest now.' : 'All done. You can invest now.');
  return total === 0 ? '\u00a0' : t('{done} of {total} done', { done, total });
}

type RowProps = {
  offer: OfferDetails;
  optionId: string;
  row: RequirementRow;
  isNext: boolean;
  /** True if no action of the user can resolve what blocks them. No step is offered then. */
  isBlocked: boolean;
  /**
   * True if the option keeps a list of registered wallets, so that a new wallet does not replace the last one.
   */
  registersWallets: boolean;
  expectChange(): void;
};

function Row(props: RowProps) {
  const ui = useUi();
  const { cx, t } = ui;
  const { requirement, status } = props.row;
  const [name, reason] = REQUIREMENT_LABELS[requirement.type];
  const [tone, label] = STATUS_LABELS[status.status];
  return (
    <li className={cx('cw-requirement')} data-requirement={requirement.type} data-status={status.status}>
      <div className="cw-requirement-line">
        <div className="cw-grow">
          <p className={cx('cw-strong')}>{t(name)}</p>
          <p className={cx('cw-muted cw-small')}>
            {requirement.type === 'jurisdiction' ? describeJurisdiction(requirement.details, ui) : t(reason)}
          </p>
        </div>
        <StatusBadge tone={tone}>{t(label)}</StatusBadge>
      </div>
      {/*
       * Hides the step instead of removing it, so that a dialog it has opened stays until the user closes it.
       */}
      <div hidden={props.isBlocked && !isExplained(props.row)}>
        <Step {...props} />
      </div>
    </li>
  );
}

function Step(props: RowProps) {
  const { offer, optionId, isNext, registersWallets, expectChange } = props;
  const { requirement, status } = props.row;
  const common = { status, isNext, onProgress: expectChange };
  switch (requirement.type) {
    case 'identity_verification':
    case 'kyc_approved':
    case 'accreditation':
    case 'jurisdiction':
      return <IdentityStep type={requirement.type} {...common} />;
    case 'document':
      return <DocumentStep documentType={requirement.details.document_type} {...common} />;
    case 'external_wallet':
      return (
        <WalletStep
          {...{ offer, optionId, ...common }}
          protocol={requirement.details.protocol}
          maximum={registersWallets ? 0 : 1}
        />
      );
    case 'whitelisted_wallet':
      return (
        <WalletStep
          {...{ offer, optionId, ...common }}
          protocol="ethereum"
          maximum={requirement.details.max_wallets}
        />
      );
  }
}

function ChecklistSkeleton() {
  const { cx, t } = useUi();
  return (
    <>
      <Loading>{t('Loading requirements…')}</Loading>
      <ul className={cx('cw-list')} aria-hidden="true">
        {['a', 'b', 'c'].map((key) => (
          <li key={key} className={cx('cw-requirement')}>
            <Skeleton height="4.4em" />
          </li>
        ))}
      </ul>
    </>
  );
}
