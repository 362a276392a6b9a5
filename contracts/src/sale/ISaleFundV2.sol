// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISaleFundBase} from "./ISaleFundBase.sol";

/// @title Sale fund, second generation
/// @notice A sale fund in which every commitment has an id. Each id can be committed once and remitted once. An
/// operator that lost its records, or a second operator, therefore cannot pull or refund a commitment twice.
/// @dev The service builds the id from two UUIDs, 16 bytes each: its installation's and the participation's. An option
/// is identified by the keccak-256 hash of its id's text. `supportsInterface` (ERC-165) distinguishes the generations.
interface ISaleFundV2 is ISaleFundBase {
    /// @notice One commitment. A refund repeats the row exactly as it was committed.
    struct Row {
        bytes32 id;
        address user;
        bytes32 option;
        address token;
        uint256 amount;
    }

    /// @notice `amount` of `token` was pulled from `user` for `option`.
    event Committed(
        bytes32 indexed id, address indexed user, bytes32 indexed option, address token, uint256 amount
    );

    /// @notice `amount` of `token` was refunded to `user` for `option`.
    event Remitted(
        bytes32 indexed id, address indexed user, bytes32 indexed option, address token, uint256 amount
    );

    /// @notice One row of a batch failed and had no effect. `kind` 0 is a commit.
    event BatchFail(
        uint256 kind,
        bytes32 indexed id,
        address indexed user,
        bytes32 indexed option,
        address token,
        uint256 amount
    );

    /// @notice The id was committed before, whether or not it has been remitted since.
    error AlreadyCommitted(bytes32 id);

    /// @notice The id has been remitted before.
    error AlreadyRemitted(bytes32 id);

    /// @notice No such row was committed under this id.
    error NotCommitted(bytes32 id);

    /// @notice The token rejected the transfer, or a different amount arrived.
    error CommitFailed(bytes32 id);

    /// @notice The token rejected the refund.
    error RemitFailed(bytes32 id);

    /// @notice Pulls the row's amount from its user. Requires role 2.
    function commit(Row calldata row) external;

    /// @notice Commits row by row. A failed row emits `BatchFail`, does not use up its id and does not affect the other
    /// rows. Requires role 2.
    function commit(Row[] calldata rows) external;

    /// @notice Refunds a committed row to its user, always whole: an id that were used up by a part could never refund the
    /// rest. Requires role 4.
    function remit(Row calldata row) external;

    /// @notice Refunds several rows. If one refund fails, all revert. Requires role 4.
    function remit(Row[] calldata rows) external;

    /// @notice Whether the id was ever committed, even if it has been remitted since.
    function isCommitted(bytes32 id) external view returns (bool);

    /// @notice Whether the id has been remitted.
    function isRemitted(bytes32 id) external view returns (bool);
}
