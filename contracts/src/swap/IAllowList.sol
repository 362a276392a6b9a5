// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Allow-list
/// @notice Wallets come in by an EIP-712 permission of the supplier key, which anyone may broadcast.
/// @dev Permission: `AllowWallet(address wallet,bytes32 offer,uint256 nonce,uint256 deadline)`. The domain
/// (`eip712Domain()`, EIP-5267) ties it to one contract on one chain; the nonce, which moves with every revocation,
/// ties it to the time before the next one.
interface IAllowList {
    /// @notice `wallet` came in by a permission that was given for `offer`.
    event Allowed(address indexed wallet, bytes32 indexed offer);

    /// @notice `wallet` is out, and permissions below `nonce` are void.
    event Revoked(address indexed wallet, uint256 nonce);

    /// @notice Permissions are now signed by `supplier`.
    event SupplierChanged(address indexed supplier);

    /// @notice The permission ended at `deadline`.
    error PermissionExpired(uint256 deadline);

    /// @notice The supplier did not sign this permission for this wallet, contract and chain, or it was revoked.
    error InvalidPermission();

    /// @notice This contract serves everyone.
    error NoAllowList();

    /// @notice Lets `wallet` in. Of no effect when it is in already.
    function allow(address wallet, bytes32 offer, uint256 deadline, bytes calldata signature) external;

    /// @notice Puts `wallet` out and voids every permission signed for it so far. Owner or role 2.
    function revoke(address wallet) external;

    /// @notice Changes who signs permissions. Those of the former key are void. Owner.
    function setSupplier(address supplier) external;

    /// @notice Whether `wallet` may swap.
    function authorized(address wallet) external view returns (bool);

    /// @notice The nonce that the next permission for `wallet` must carry.
    function nonces(address wallet) external view returns (uint256);

    /// @notice Who signs permissions; zero when there is no allow-list.
    function supplier() external view returns (address);

    function domainSeparator() external view returns (bytes32);
}
