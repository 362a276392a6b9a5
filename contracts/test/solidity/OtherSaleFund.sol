// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OwnableRoles} from "solady/auth/OwnableRoles.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";

/// @dev A sale fund of another generation. The rows of a batch share all its gas. A commit credits the requested amount
/// even if a different amount arrives.
contract OtherSaleFund is OwnableRoles {
    using SafeTransferLib for address;

    struct Totals {
        uint256 commitCount;
        uint256 commitSum;
        uint256 remitCount;
        uint256 remitSum;
    }

    event Committed(address indexed user, bytes32 indexed option, address indexed token, uint256 amount);
    event Remitted(address indexed user, bytes32 indexed option, address indexed token, uint256 amount);
    event BatchFail(
        uint256 kind, address indexed user, bytes32 indexed option, address indexed token, uint256 amount
    );
    event Batched(uint256 kind, uint256 succeeded, uint256 failed);

    error CommitFailed(address user, bytes32 option, address token);
    error InsufficientCommitment(address user, bytes32 option, address token);
    error InsufficientAmount(uint256 amount, uint256 minimum);

    uint256 public constant KIND = 0;
    uint256 public constant VERSION = 1;
    uint256 public constant minCommit = 1;
    uint256 public constant stopped = 0;
    bytes32 public constant id = keccak256("another generation");

    mapping(address user => mapping(bytes32 option => mapping(address token => Totals))) public totals;

    constructor(address operator) {
        _initializeOwner(msg.sender);
        _grantRoles(operator, 6);
    }

    function commit(address user, bytes32 option, address token, uint256 amount) external onlyRoles(2) {
        _commit(user, option, token, amount);
    }

    function commit(
        address[] calldata users,
        bytes32[] calldata options,
        address[] calldata tokens,
        uint256[] calldata amounts
    ) external onlyRoles(2) {
        uint256 failed;
        for (uint256 i; i < users.length; ++i) {
            try this.commitRow(users[i], options[i], tokens[i], amounts[i]) {}
            catch {
                ++failed;
                emit BatchFail(0, users[i], options[i], tokens[i], amounts[i]);
            }
        }
        emit Batched(0, users.length - failed, failed);
    }

    function commitRow(address user, bytes32 option, address token, uint256 amount) external {
        if (msg.sender != address(this)) revert Unauthorized();
        _commit(user, option, token, amount);
    }

    function remit(address user, bytes32 option, address token, uint256 amount) external onlyRoles(4) {
        _remit(user, option, token, amount);
    }

    function remit(address[] calldata users, bytes32 option, address token, uint256[] calldata amounts)
        external
        onlyRoles(4)
    {
        for (uint256 i; i < users.length; ++i) {
            _remit(users[i], option, token, amounts[i]);
        }
        emit Batched(1, users.length, 0);
    }

    function _commit(address user, bytes32 option, address token, uint256 amount) private {
        if (amount < minCommit) revert InsufficientAmount(amount, minCommit);
        if (!token.trySafeTransferFrom(user, address(this), amount)) revert CommitFailed(user, option, token);
        Totals storage mine = totals[user][option][token];
        ++mine.commitCount;
        mine.commitSum += amount;
        emit Committed(user, option, token, amount);
    }

    function _remit(address user, bytes32 option, address token, uint256 amount) private {
        Totals storage mine = totals[user][option][token];
        if (mine.commitSum - mine.remitSum < amount) revert InsufficientCommitment(user, option, token);
        ++mine.remitCount;
        mine.remitSum += amount;
        emit Remitted(user, option, token, amount);
        token.safeTransfer(user, amount);
    }
}
