// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Allow-list
/// @notice An EIP-712 permission, signed with the supplier key, allows a wallet. Anyone may submit the permission.
/// @dev Permission: `AllowWallet(address wallet,bytes32 offer,uint256 nonce,uint256 deadline)`. The domain
/// (`eip712Domain()`, EIP-5267) binds the permission to one contract on one chain. Each revocation increments the
/// wallet's nonce, which voids earlier permissions.
interface IAllowList {
    /// @notice `wallet` was allowed by a permission for `offer`.
    event Allowed(address indexed wallet, bytes32 indexed offer);

    /// @notice `wallet` was revoked, and permissions with a nonce below `nonce` are void.
    event Revoked(address indexed wallet, uint256 nonce);

    /// @notice `supplier` now signs permissions.
    event SupplierChanged(address indexed supplier);

    /// @notice The permission expired at `deadline`.
    error PermissionExpired(uint256 deadline);

    /// @notice The supplier did not sign this permission for this wallet, contract and chain, or the
    /// permission was revoked.
    error InvalidPermission();

    /// @notice This contract has no allow-list, or the new supplier is the zero address.
    error NoAllowList();

    /// @notice Allows `wallet`. Does nothing if it is already allowed.
    function allow(address wallet, bytes32 offer, uint256 deadline, bytes calldata signature) external;

    /// @notice Revokes `wallet` and voids every permission signed for it so far. Owner or role 2 only.
    function revoke(address wallet) external;

    /// @notice Changes who signs permissions. Permissions signed by the previous supplier become void. Owner only.
    function setSupplier(address supplier) external;

    /// @notice Returns whether `wallet` may swap.
    function authorized(address wallet) external view returns (bool);

    /// @notice The nonce of the next permission for `wallet`.
    function nonces(address wallet) external view returns (uint256);

    /// @notice The signer of permissions; zero if there is no allow-list.
    function supplier() external view returns (address);

    function domainSeparator() external view returns (bytes32);
}
