export type WalletsListProps = { offerId: string; optionId?: string | undefined };
export function WalletsList(_props: WalletsListProps) {
  return <section className="cw" />;
}
