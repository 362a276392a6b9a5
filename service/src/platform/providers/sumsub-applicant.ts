import Type, { type Static } from 'typebox';
import type { PersonalData } from '../../kernel/model/personal-data.ts';
import { findCountry } from '../../kernel/places/countries.ts';
import { type Applicant, REVIEW_STATUSES, type Review } from './identity.ts';

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

const Address = Type.Object({
  country: Text,
  postCode: Text,
  town: Text,
  state: Text,
  street: Text,
  subStreet: Text,
  buildingName: Text,
  buildingNumber: Text,
  flatNumber: Text,
  formattedAddress: Text,
});
type Address = Static<typeof Address>;

const CompanyInfo = Type.Object({
  companyName: Text,
  country: Text,
  legalAddress: Text,
  taxId: Text,
  addresses: Type.Optional(Type.Array(Address)),
});

const IdDoc = Type.Object({ country: Text });

const Info = Type.Object({
  firstName: Text,
  firstNameEn: Text,
  lastNameEn: Text,
  middleName: Text,
  lastName: Text,
  legalName: Text,
  dob: Text,
  country: Text,
  nationality: Text,
  tin: Text,
  taxResidenceCountry: Text,
  addresses: Type.Optional(Type.Array(Address)),
  idDocs: Type.Optional(Type.Array(IdDoc)),
  companyInfo: Type.Optional(CompanyInfo),
});
type Info = Static<typeof Info>;

export const ReviewResult = Type.Object({
  reviewAnswer: Type.Optional(Type.String()),
  reviewRejectType: Type.Optional(Type.String()),
});

/** Unknown fields are allowed, because the provider adds fields without notice. */
export const SumsubApplicant = Type.Object({
  id: Type.String({ pattern: '^[0-9a-zA-Z]{1,64}$' }),
  type: Type.Optional(Type.String()),
  info: Type.Optional(Info),
  fixedInfo: Type.Optional(Info),
  review: Type.Optional(
    Type.Object({
      levelName: Type.Optional(Type.String()),
      reviewStatus: Type.Optional(Type.String()),
      reviewDate: Type.Optional(Type.String()),
      reviewResult: Type.Optional(ReviewResult),
    }),
  ),
});
export type SumsubApplicant = Static<typeof SumsubApplicant>;

export function toApplicant(applicant: SumsubApplicant): Applicant {
  const { review } = applicant;
  const kind = applicant.type === 'company' ? 'company' : 'person';
  return {
    id: applicant.id,
    kind,
    review:
      review?.levelName === undefined
        ? null
        : toReview(review.levelName, review.reviewStatus, review.reviewResult, readTime(review.reviewDate)),
    data: kind === 'company' ? companyData(applicant) : personData(applicant),
  };
}

/**
 * Null if the status is unknown. Uses the answer only if the review is completed: otherwise it is left over from an
 * earlier review.
 */
export function toReview(
  levelName: string,
  statusText: string | undefined,
  result: Static<typeof ReviewResult> | undefined,
  reviewedAt: number | null,
): Review | null {
  const status = REVIEW_STATUSES.find((known) => known === statusText);
  if (status === undefined) return null;
  const undecided = { levelName, answer: null, rejectType: null, reviewedAt: null };
  if (status !== 'completed') return { ...undecided, status };
  const answer = result?.reviewAnswer;
  // An unknown answer, or an answer without a time, counts as not decided yet.
  if ((answer !== 'GREEN' && answer !== 'RED') || reviewedAt === null)
    return { ...undecided, status: 'queued' };
  const rejectType = answer === 'GREEN' ? null : result?.reviewRejectType === 'FINAL' ? 'FINAL' : 'RETRY';
  return { levelName, status, answer, rejectType, reviewedAt };
}

/** Parses `2026-01-02 03:04:05+0000`. The fraction and the zone are optional; the time is always UTC. */
export function readTime(text: string | undefined): number | null {
  const match = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:\+0000|Z)?$/.exec(text ?? '');
  if (match === null) return null;
  const time = Date.parse(`${match[1]}T${match[2]}Z`);
  return Number.isNaN(time) ? null : time;
}

/** Prefers data extracted from documents (`info`) over data typed by the user (`fixedInfo`), field by field. */
function personData({ info = {}, fixedInfo = {} }: SumsubApplicant): PersonalData {
  const pick = (field: Exclude<keyof Info, 'addresses' | 'idDocs' | 'companyInfo'>) =>
    clean(info[field]) ?? clean(fixedInfo[field]);
  const names = [pick('firstName'), pick('middleName'), pick('lastName')].filter((part) => part !== null);
  const addresses = [info.addresses?.[0], fixedInfo.addresses?.[0]].filter((item) => item !== undefined);
  const dob = pick('dob');
  const pickLatin = (field: 'firstName' | 'lastName') =>
    clean(info[`${field}En`]) ??
    clean(info[field]) ??
    clean(fixedInfo[`${field}En`]) ??
    clean(fixedInfo[field]);
  return {
    full_legal_name: names.length > 0 ? names.join(' ') : pick('legalName'),
    first_name: pickLatin('firstName'),
    last_name: pickLatin('lastName'),
    date_of_birth: dob !== null && isDate(dob) ? dob : null,
    tax_id: pick('tin'),
    nationality: countryCode(pick('nationality')),
    tax_residence: countryCode(pick('taxResidenceCountry')),
    identity_countries: listCountries([
      info.country,
      fixedInfo.country,
      ...(info.idDocs ?? []).map(({ country }) => country),
    ]),
    ...addressData(addresses),
  };
}

function companyData({ info = {}, fixedInfo = {} }: SumsubApplicant): PersonalData {
  const companies = [info.companyInfo, fixedInfo.companyInfo].filter((item) => item !== undefined);
  const pick = (field: 'companyName' | 'taxId' | 'legalAddress' | 'country') =>
    companies.map((company) => clean(company[field])).find((value) => value !== null) ?? null;
  const addresses = companies.flatMap((company) => company.addresses?.slice(0, 1) ?? []);
  const address = addressData(addresses);
  return {
    full_legal_name: pick('companyName'),
    first_name: null,
    last_name: null,
    date_of_birth: null,
    tax_id: pick('taxId'),
    nationality: countryCode(pick('country')),
    tax_residence: null,
    identity_countries: listCountries(companies.map(({ country }) => country)),
    ...address,
    street: address.street ?? (addresses.length === 0 ? pick('legalAddress') : null),
    country: address.country ?? countryCode(pick('country')),
  };
}

function addressData(addresses: readonly Address[]) {
  const address =
    addresses.find((candidate) => Object.values(candidate).some((value) => clean(value) !== null)) ?? {};
  const { street, subStreet, buildingName, buildingNumber, flatNumber } = address;
  const lines = [street, subStreet, buildingName, buildingNumber, flatNumber]
    .map(clean)
    .filter((part) => part !== null);
  const city = clean(address.town);
  return {
    street: lines.length > 0 ? lines.join(', ') : city === null ? clean(address.formattedAddress) : null,
    city,
    state: clean(address.state),
    postal_code: clean(address.postCode),
    country: countryCode(clean(address.country)),
  };
}

function listCountries(codes: readonly unknown[]): string | null {
  const found = codes.map((code) => countryCode(clean(code))).filter((code) => code !== null);
  return found.length === 0 ? null : [...new Set(found)].sort().join(' ');
}

function countryCode(code: string | null): string | null {
  return findCountry(code)?.iso_2 ?? null;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

function clean(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 500);
  return text === '' ? null : text;
}
