-- `open_to_anyone`: the operator has decided that options of this offer need no identity check.
alter table offers add column open_to_anyone boolean not null default false;

-- How transfers change amounts, as the offer file declares it. Only exact assets can fund an offer.
alter table assets add column transfers text not null default 'exact'
  check (transfers in ('exact', 'fee_on_transfer', 'rebasing'));
