import type { OfferDetails } from '../../wire.ts';
import { type BlockProps, joinClasses } from '../ui/class-names.ts';
import { Skeleton, StatusBadge } from '../ui/elements.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { formatDate, formatPrice, groupDigits, isWebUrl, slugToTitle } from '../ui/format.ts';
import { MILESTONE_LABELS } from '../ui/labels.ts';
import type { OfferPartProps } from './offer-header.tsx';

const PART = 'cw cw-card cw-part';

/**
 * Shows the terms of an offer together with the terms of all its options, or of one option.
 *
 * @example
 * ```tsx
 * import { OfferTerms, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   const { data: offer } = useOffer('harbour-quarter');
 *   return <OfferTerms offer={offer} optionId={offer?.options[0]?.id} />;
 * }
 * ```
 */
export function OfferTerms(props: OfferPartProps & { optionId?: string | undefined }) {
  const { offer, optionId, className } = props;
  if (offer === undefined) return <SectionSkeleton title="Terms" lines={4} {...{ className }} />;
  const options = offer.options.filter(({ id }) => optionId === undefined || id === optionId);
  const general = [...offer.terms.map(({ key, value }) => [key, value] as const), ...datesOf(offer)];
  return (
    <section className={joinClasses(PART, className)}>
      <h2 className="cw-title">Terms</h2>
      {general.length > 0 && <FactList className="cw-terms" facts={general} />}
      {options.map((option) => {
        const facts = optionFacts(option, offer);
        if (facts.length === 0) return null;
        return (
          <div key={option.id} className="cw-option-terms">
            {offer.options.length > 1 && <h3 className="cw-subtitle">{slugToTitle(option.slug)}</h3>}
            <FactList className="cw-terms" facts={facts} />
            {isWebUrl(option.sale_agreement_url) && (
              <a className="cw-link" href={option.sale_agreement_url} target="_blank" rel="noreferrer">
                Read the sale agreement
              </a>
            )}
          </div>
        );
      })}
    </section>
  );
}

function datesOf({ starts_at, ends_at }: OfferDetails): Fact[] {
  return [
    ...(starts_at === null ? [] : [['Opens', formatDate(starts_at)] as const]),
    ...(ends_at === null ? [] : [['Ends', formatDate(ends_at)] as const]),
  ];
}

function optionFacts(option: OfferDetails['options'][number], { asset }: OfferDetails): Fact[] {
  const usd = (term: string, value: string | null): Fact[] =>
    value === null ? [] : [[term, formatPrice(value)]];
  const supply = option.total_token_supply;
  return [
    ...usd(`Price per ${asset.code}`, option.price_usd),
    ...usd('Floor price', option.floor_price_usd),
    ...usd('Bid increment', option.bid_increment),
    ...usd('Minimum purchase', option.minimum_purchase_usd),
    ...(supply === null ? [] : [['Supply', `${groupDigits(supply)} ${asset.code}`] as const]),
  ];
}

/**
 * Shows an offer's past and planned milestones; renders nothing if there are none.
 *
 * @example
 * ```tsx
 * import { OfferMilestones, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   return <OfferMilestones offer={useOffer('harbour-quarter').data} />;
 * }
 * ```
 */
export function OfferMilestones({ offer, className }: OfferPartProps) {
  if (offer === undefined) return <SectionSkeleton title="Milestones" lines={3} {...{ className }} />;
  if (offer.milestones.length === 0) return null;
  return (
    <section className={joinClasses(PART, className)}>
      <h2 className="cw-title">Milestones</h2>
      <ol className="cw-milestones">
        {offer.milestones.map(({ name, schedule, status }) => {
          const [tone, label] = MILESTONE_LABELS[status];
          return (
            <li key={`${name} ${schedule}`} className={`cw-milestone cw-tone-${tone}`}>
              <div>
                <p className="cw-strong">{name}</p>
                <p className="cw-muted">{schedule}</p>
              </div>
              <StatusBadge tone={tone}>{label}</StatusBadge>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/**
 * Shows an offer's questions, one answer open at a time; renders nothing if there are none.
 *
 * @example
 * ```tsx
 * import { OfferFaq, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   return <OfferFaq offer={useOffer('harbour-quarter').data} />;
 * }
 * ```
 */
export function OfferFaq({ offer, className }: OfferPartProps) {
  if (offer === undefined)
    return <SectionSkeleton title="Questions and answers" lines={3} {...{ className }} />;
  if (offer.faqs.length === 0) return null;
  return (
    <section className={joinClasses(PART, className)}>
      <h2 className="cw-title">Questions and answers</h2>
      <div>
        {offer.faqs.map(({ question, answer }) => (
          <details key={question} className="cw-faq" name={`cw-faq-${offer.id}`}>
            <summary>{question}</summary>
            <p>{answer}</p>
          </details>
        ))}
      </div>
    </section>
  );
}

/**
 * Shows an offer's links; renders nothing if there are none.
 *
 * @example
 * ```tsx
 * import { OfferLinks, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   return <OfferLinks offer={useOffer('harbour-quarter').data} />;
 * }
 * ```
 */
export function OfferLinks({ offer, className }: OfferPartProps) {
  if (offer === undefined) return <SectionSkeleton title="Learn more" lines={1} {...{ className }} />;
  const links = offer.links.filter(({ url }) => isWebUrl(url));
  if (links.length === 0) return null;
  return (
    <section className={joinClasses(PART, className)}>
      <h2 className="cw-title">Learn more</h2>
      <ul className="cw-links">
        {links.map(({ label, url }) => (
          <li key={url}>
            <a className="cw-link" href={url} target="_blank" rel="noreferrer">
              {label}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function SectionSkeleton({ title, lines, className }: BlockProps & { title: string; lines: number }) {
  return (
    <section className={joinClasses(PART, className)} aria-busy="true">
      <h2 className="cw-title">{title}</h2>
      <Skeleton height={`${lines * 2.6}em`} />
    </section>
  );
}
